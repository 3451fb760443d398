"""Does with openai-python and anthropic-python what each line of standard input asks for, and answers each with one line of JSON.

The clients are made as their users make them: by OPENAI_BASE_URL, OPENAI_API_KEY, ANTHROPIC_BASE_URL and ANTHROPIC_API_KEY, and
nothing else.
"""

import json
import sys
import traceback

import anthropic
import openai
from pydantic import BaseModel

QUESTION = "How is the weather?"
NEXT = "And tomorrow?"


class Place(BaseModel):
    city: str


class ResponsesTasks:
    def __init__(self):
        self.responses = openai.OpenAI().responses

    THINKING = {
        "reasoning": {"effort": "low", "summary": "auto"},
        "include": ["reasoning.encrypted_content"],
        "store": False,
    }
    WEATHER = {
        "type": "function",
        "name": "weather",
        "description": "Tells the weather of a city.",
        "strict": True,
        "parameters": {
            "type": "object",
            "properties": {"city": {"type": "string"}},
            "required": ["city"],
            "additionalProperties": False,
        },
    }

    def continued(self, first):
        return [{"role": "user", "content": QUESTION}, *first.output, {"role": "user", "content": NEXT}]

    def ask(self, model):
        first = self.responses.create(model=model, input=QUESTION)
        return self.answer(self.responses.create(model=model, input=self.continued(first)))

    def stream(self, model):
        first = self.final(model=model, input=QUESTION)
        with self.responses.stream(model=model, input=self.continued(first)) as events:
            pieces = [event.delta for event in events if event.type == "response.output_text.delta"]
            return {**self.answer(events.get_final_response()), "pieces": pieces}

    def answer(self, response):
        usage = response.usage
        return {"text": response.output_text, "input": usage.input_tokens, "output": usage.output_tokens}

    def final(self, **body):
        with self.responses.stream(**body) as events:
            return events.get_final_response()

    def repeat(self, ask, model):
        conversation, cities = [{"role": "user", "content": QUESTION}], []
        while True:
            response = ask(model=model, input=conversation, tools=[self.WEATHER], **self.THINKING)
            calls = [item for item in response.output if item.type == "function_call"]
            if not calls:
                return {"text": response.output_text, "cities": cities}
            conversation += response.output
            for call in calls:
                city = json.loads(call.arguments)["city"]
                cities.append(city)
                output = {"type": "function_call_output", "call_id": call.call_id, "output": f"Rain in {city}"}
                conversation.append(output)

    def loop(self, model):
        return self.repeat(self.responses.create, model)

    def streamedLoop(self, model):
        return self.repeat(self.final, model)

    def parse(self, model):
        return self.responses.parse(model=model, input=QUESTION, text_format=Place).output_parsed.model_dump()

    def streamedParse(self, model):
        return self.final(model=model, input=QUESTION, text_format=Place).output_parsed.model_dump()

    def thought(self, response):
        parts = [part.text for item in response.output if item.type == "reasoning" for part in item.summary]
        return {"thought": "".join(parts), "text": response.output_text}

    def think(self, model):
        return self.thought(self.responses.create(model=model, input=QUESTION, **self.THINKING))

    def streamedThink(self, model):
        return self.thought(self.final(model=model, input=QUESTION, **self.THINKING))


class ChatTasks:
    def __init__(self):
        self.completions = openai.OpenAI().chat.completions

    ASKED = {"messages": [{"role": "user", "content": QUESTION}]}
    WEATHER = {
        "type": "function",
        "function": {
            "name": "weather",
            "description": "Tells the weather of a city.",
            "strict": True,
            "parameters": ResponsesTasks.WEATHER["parameters"],
        },
    }

    def continued(self, first):
        return [*self.ASKED["messages"], first.choices[0].message, {"role": "user", "content": NEXT}]

    def ask(self, model):
        first = self.completions.create(model=model, **self.ASKED)
        return self.answer(self.completions.create(model=model, messages=self.continued(first)))

    def stream(self, model):
        options = {"stream_options": {"include_usage": True}}
        first = self.final(model=model, **options, **self.ASKED)
        with self.completions.stream(model=model, messages=self.continued(first), **options) as events:
            pieces = [event.delta for event in events if event.type == "content.delta"]
            return {**self.answer(events.get_final_completion()), "pieces": pieces}

    def answer(self, completion):
        usage = completion.usage
        text = completion.choices[0].message.content
        return {"text": text, "input": usage.prompt_tokens, "output": usage.completion_tokens}

    def final(self, **body):
        with self.completions.stream(**body) as events:
            return events.get_final_completion()

    def repeat(self, ask, model):
        conversation, cities = list(self.ASKED["messages"]), []
        while True:
            completion = ask(model=model, messages=conversation, tools=[self.WEATHER], reasoning_effort="low")
            message = completion.choices[0].message
            if not message.tool_calls:
                return {"text": message.content, "cities": cities}
            conversation.append(message)
            for call in message.tool_calls:
                city = json.loads(call.function.arguments)["city"]
                cities.append(city)
                conversation.append({"role": "tool", "tool_call_id": call.id, "content": f"Rain in {city}"})

    def loop(self, model):
        return self.repeat(self.completions.create, model)

    def streamedLoop(self, model):
        return self.repeat(self.final, model)

    def parse(self, model):
        parsed = self.completions.parse(model=model, response_format=Place, **self.ASKED)
        return parsed.choices[0].message.parsed.model_dump()

    def streamedParse(self, model):
        return self.final(model=model, response_format=Place, **self.ASKED).choices[0].message.parsed.model_dump()


class MessagesTasks:
    def __init__(self):
        client = anthropic.Anthropic()
        self.messages, self.beta = client.messages, client.beta.messages

    ASKED = {"max_tokens": 4000, "messages": [{"role": "user", "content": QUESTION}]}
    THINKING = {"thinking": {"type": "enabled", "budget_tokens": 2000}}

    def continued(self, first):
        more = [{"role": "assistant", "content": first.content}, {"role": "user", "content": NEXT}]
        return {**self.ASKED, "messages": [*self.ASKED["messages"], *more]}

    def ask(self, model):
        first = self.messages.create(model=model, **self.ASKED)
        return self.answer(self.messages.create(model=model, **self.continued(first)))

    def stream(self, model):
        first = self.final(model=model, **self.ASKED)
        with self.messages.stream(model=model, **self.continued(first)) as events:
            pieces = list(events.text_stream)
            return {**self.answer(events.get_final_message()), "pieces": pieces}

    def text(self, message):
        return "".join(block.text for block in message.content if block.type == "text")

    def answer(self, message):
        usage = message.usage
        return {"text": self.text(message), "input": usage.input_tokens, "output": usage.output_tokens}

    def final(self, **body):
        with self.messages.stream(**body) as events:
            return events.get_final_message()

    def run(self, model, stream):
        cities = []

        @anthropic.beta_tool
        def weather(city: str) -> str:
            """Tells the weather of a city."""
            cities.append(city)
            return f"Rain in {city}"

        runner = self.beta.tool_runner(model=model, tools=[weather], stream=stream, **self.ASKED, **self.THINKING)
        return {"text": self.text(runner.until_done()), "cities": cities}

    def loop(self, model):
        return self.run(model, False)

    def streamedLoop(self, model):
        return self.run(model, True)

    def parse(self, model):
        return self.messages.parse(model=model, output_format=Place, **self.ASKED).parsed_output.model_dump()

    def streamedParse(self, model):
        return self.final(model=model, output_format=Place, **self.ASKED).parsed_output.model_dump()

    def thought(self, message):
        thoughts = [block.thinking for block in message.content if block.type == "thinking"]
        return {"thought": "".join(thoughts), "text": self.text(message)}

    def think(self, model):
        return self.thought(self.messages.create(model=model, **self.ASKED, **self.THINKING))

    def streamedThink(self, model):
        return self.thought(self.final(model=model, **self.ASKED, **self.THINKING))

    def count(self, model):
        return self.messages.count_tokens(model=model, messages=self.ASKED["messages"]).input_tokens


class Versions:
    def openai(self, _):
        return openai.__version__

    def anthropic(self, _):
        return anthropic.__version__


CLIENTS = {"responses": ResponsesTasks(), "chat": ChatTasks(), "messages": MessagesTasks(), "versions": Versions()}

for line in sys.stdin:
    client, task, model = json.loads(line)
    try:
        answer = {"done": getattr(CLIENTS[client], task)(model)}
    except Exception:
        answer = {"error": traceback.format_exc()}
    print(json.dumps(answer), flush=True)
