"""Does with openai-python what each line of standard input asks for, and answers each with one line of JSON.

The client is made as its users make it: OPENAI_BASE_URL and OPENAI_API_KEY, and nothing else.
"""

import json
import sys

import openai

client = openai.OpenAI()


def create(body):
    completion = client.chat.completions.create(**body)
    return {"completion": completion.model_dump(), "requestId": completion._request_id}


def stream(body, seen):
    for chunk in client.chat.completions.create(stream=True, **body):
        seen.append(chunk.model_dump())
    return {}


def accumulate(body):
    with client.chat.completions.stream(**body) as events:
        return {"completion": events.get_final_completion().model_dump()}


def respond(body):
    return {"response": client.responses.create(**body).model_dump()}


def listen(body, seen):
    for event in client.responses.create(stream=True, **body):
        seen.append(event.model_dump(warnings=False))
    return {}


STREAMS = {"stream": stream, "listen": listen}


def models(_):
    return {"models": [model.model_dump() for model in client.models.list()]}


def retrieve(model):
    return {"models": [client.models.retrieve(model).model_dump()]}


def answer(task, argument):
    chunks = []
    try:
        done = STREAMS[task](argument, chunks) if task in STREAMS else globals()[task](argument)
        return {"chunks": chunks, **done}
    except openai.APIError as error:
        described = {"class": type(error).__name__, "message": error.message, "code": error.code}
        status = {"status": getattr(error, "status_code", None), "requestId": getattr(error, "request_id", None)}
        return {"chunks": chunks, "error": {**described, **status}}


for line in sys.stdin:
    print(json.dumps(answer(*json.loads(line))), flush=True)
