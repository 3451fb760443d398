import { expect } from 'chai'
import { ChatCompletionStream } from 'openai/lib/ChatCompletionStream'
import type {
  ChatCompletion,
  ChatDelta,
  Provider,
  TranslatedChunk,
  Translator,
  UpstreamError,
} from 'unified-model-gateway/plugin'
import { normaliseCompletion, StreamNormaliser } from '../../../../core/protocol/normalise.ts'
import { readRefusal } from '../../../../core/sdk/refusals.ts'
import { documentedChunks, documentedReply } from '../../../fixtures/documented.ts'
import { fakeCallAndAttempt } from '../../../support/fake-call.ts'
import { createProvider } from './provider.ts'

const translatorOf = (preset: string): Translator => createProvider({ preset }).translator!(...fakeCallAndAttempt())!

const translate = (preset: string, events: readonly (string | object)[]): TranslatedChunk[] => {
  const translator = translatorOf(preset)
  const text = (event: string | object) => (typeof event === 'string' ? event : JSON.stringify(event))
  return events.flatMap((event) => [...translator.event({ type: '', data: text(event) })])
}

const chunk = (delta: object, finish_reason: string | null = null, more: object = {}) => ({
  id: 'c1',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [{ index: 0, delta, finish_reason, logprobs: null }],
  ...more,
})

/** The official SDK's completion of a translated stream. */
async function readBySdk(chunks: readonly TranslatedChunk[]): Promise<ChatCompletion> {
  const normaliser = new StreamNormaliser({ model: 'ns/m', includeUsage: true, choices: 1 })
  const wire = [...chunks.flatMap((part) => [...normaliser.push(part)]), ...normaliser.end()!]
  const lines = wire.map((one) => `${JSON.stringify(one)}\n`)
  const stream = ChatCompletionStream.fromReadableStream(new Blob(lines).stream())
  return (await stream.finalChatCompletion()) as unknown as ChatCompletion
}

const USAGE = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 }

describe('openai-compatible: documented replies, as the official SDK reads them', () => {
  const WEATHER = { name: 'weather', arguments: '{"location": "Lisbon"}' }
  const replies = [
    { preset: 'mistral', id: 'Dc7xQ2mTa', usage: { prompt_tokens: 96, completion_tokens: 18, total_tokens: 114 } },
    { preset: 'deepseek', id: 'call_00_Doc0000000000000000000', usage: { prompt_tokens: 287, completion_tokens: 61 } },
    { preset: 'alibaba', id: 'call_0000000000000000000000a1', usage: { prompt_tokens: 243, completion_tokens: 19 } },
  ]
  for (const { preset, id, usage } of replies) {
    it(`the tool call and the usage of ${preset}`, async () => {
      const completion = await readBySdk(translate(preset, documentedChunks(`${preset}-tool-call`)))
      const [choice] = completion.choices
      expect(choice!.finish_reason).to.equal('tool_calls')
      expect(choice!.message.tool_calls).to.have.length(1)
      const [call] = choice!.message.tool_calls!
      expect(call).to.include({ type: 'function', id })
      expect(call!.function).to.include(WEATHER)
      expect(completion.usage).to.include(usage)
    })
  }

  it('the reasoning of deepseek', () => {
    const chunks = translate('deepseek', documentedChunks('deepseek-tool-call'))
    const reasoning = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta?.reasoning_content ?? '')).join('')
    expect(reasoning).to.match(/^The question is .* with "Lisbon"\.$/)
  })

  for (const preset of ['mistral', 'deepseek', 'alibaba']) {
    it(`a whole reply of ${preset}`, () => {
      const body = JSON.parse(documentedReply(`${preset}-tool-call`))
      const completion = normaliseCompletion(translatorOf(preset).completion(body), 'ns/m')
      const [choice] = completion.choices
      expect(choice).to.include({ index: 0, finish_reason: 'tool_calls', logprobs: null })
      expect(choice!.message.tool_calls![0]!.function).to.include(WEATHER)
      expect(completion.usage).to.deep.equal(body.usage)
    })
  }
})

describe('openai-compatible: a translated stream', () => {
  it('has each of the calls that ollama sends with the same index', async () => {
    const call = (id: string, json: string) => chunk({ tool_calls: [{ index: 0, id, function: { name: 'f', arguments: json } }] })
    const { choices } = await readBySdk(
      translate('ollama', [call('a', '{"x":1}'), call('b', '{"x":2}'), chunk({}, 'tool_calls')]),
    )
    expect(choices[0]!.message.tool_calls!.map(({ id, function: called }) => [id, called?.arguments])).to.deep.equal([
      ['a', '{"x":1}'],
      ['b', '{"x":2}'],
    ])
  })

  it('keeps unknown fields of chunks, choices and deltas', () => {
    const delta = { content: 'Hi', annotations: [{ type: 'url_citation' }], reasoning: 'hm' }
    const more = { service_tier: 'default', obfuscation: 'xx', citations: ['a'] }
    const [out] = translate('groq', [chunk(delta, null, more)])
    expect(out).to.deep.include(more)
    expect(out!.choices[0]).to.deep.include({ delta, logprobs: null })
  })

  it('ignores a usage of null', () => {
    const [out] = translate('deepseek', [chunk({ content: 'Hi' }, null, { usage: null })])
    expect(out).not.to.have.property('usage')
  })

  it('ignores null, the end marker and empty events', () => {
    expect(translate('groq', ['null', '[DONE]', '[DONE] ', '', ' '])).to.deep.equal([])
  })

  it('has the usage inside the choice of moonshot', () => {
    const final = { ...chunk({}), choices: [{ index: 0, delta: {}, finish_reason: 'stop', usage: USAGE }] }
    const [out] = translate('moonshot', [final])
    expect(out!.usage).to.deep.equal(USAGE)
    expect(out!.choices[0]).not.to.have.property('usage')
  })

  it('has the last of the usages in every chunk of perplexity', async () => {
    const grown = { ...USAGE, completion_tokens: 9, total_tokens: 12 }
    const completion = await readBySdk(
      translate('perplexity', [
        chunk({ role: 'assistant', content: 'a' }, null, { usage: USAGE }),
        chunk({ role: 'assistant', content: 'b' }, 'stop', { usage: grown, object: 'chat.completion.done' }),
      ]),
    )
    expect(completion.choices[0]!.message).to.include({ role: 'assistant', content: 'ab' })
    expect(completion.usage).to.deep.equal(grown)
  })

  it('separates tool calls with the same index', async () => {
    const call = (id: string, city: string) => ({
      index: 0,
      id,
      type: 'function',
      function: { name: 'f', arguments: `{"city":"${city}"}` },
    })
    const completion = await readBySdk(
      translate('gemini', [
        chunk({ role: 'assistant', tool_calls: [call('a', 'Oslo')] }),
        chunk({ tool_calls: [call('b', 'Rome'), call('c', 'Bonn')] }, 'stop'),
      ]),
    )
    const calls = completion.choices[0]!.message.tool_calls!
    expect(calls.map(({ function: called }) => JSON.parse(called!.arguments).city)).to.deep.equal(['Oslo', 'Rome', 'Bonn'])
    expect(completion.choices[0]!.finish_reason).to.equal('tool_calls')
  })

  it('appends a part without id and index to the call before it', async () => {
    const completion = await readBySdk(
      translate('gemini', [
        chunk({ tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{"x":' } }] }),
        chunk({ tool_calls: [{ function: { arguments: '1}' } }] }),
        chunk({ tool_calls: [{ id: 'b', function: { name: 'g', arguments: '{}' } }] }),
        chunk({}, 'stop'),
      ]),
    )
    const calls = completion.choices[0]!.message.tool_calls!
    expect(calls.map(({ function: called }) => called!.arguments)).to.deep.equal(['{"x":1}', '{}'])
  })

  it('follows interleaved parts by their index', () => {
    const part = (index: number, more: object) => chunk({ tool_calls: [{ index, ...more }] })
    const chunks = translate('alibaba', [
      part(0, { id: 'a', function: { name: 'f', arguments: '' } }),
      part(1, { id: 'b', function: { name: 'g', arguments: '' } }),
      part(0, { id: '', function: { arguments: '{}' } }),
    ])
    expect(chunks.map(({ choices }) => choices[0]!.delta!.tool_calls![0]!.index)).to.deep.equal([0, 1, 0])
    expect(chunks[2]!.choices[0]!.delta!.tool_calls![0]).not.to.have.property('id')
  })

  it('keeps stop for choices of gemini without tool calls', () => {
    const finish = {
      choices: [
        { index: 0, delta: {}, finish_reason: 'stop' },
        { index: 1, delta: {}, finish_reason: 'stop' },
      ],
    }
    const tool = { choices: [{ index: 1, delta: { tool_calls: [{ id: 'a', function: { name: 'f', arguments: '{}' } }] } }] }
    const [, out] = translate('gemini', [tool, finish])
    expect(out!.choices.map(({ finish_reason }) => finish_reason)).to.deep.equal(['stop', 'tool_calls'])
  })

  it('has the thinking parts of mistral as reasoning, and its text parts as text', () => {
    const thinking = (text: string) => [{ type: 'thinking', thinking: [{ type: 'text', text }] }]
    const chunks = translate('mistral', [
      chunk({ role: 'assistant', content: thinking('2 and ') }),
      chunk({ content: [...thinking('2'), { type: 'text', text: '4' }] }),
      chunk({ content: '!' }, 'stop'),
    ])
    const said = (key: keyof ChatDelta) => chunks.map(({ choices }) => choices[0]!.delta![key] ?? '').join('')
    expect(said('reasoning_content')).to.equal('2 and 2')
    expect(said('content')).to.equal('4!')
    const message = { role: 'assistant', content: [...thinking('so'), { type: 'text', text: '4' }] }
    const completion = translatorOf('mistral').completion({ choices: [{ index: 0, message, finish_reason: 'stop' }] })
    expect(completion.choices[0]!.message).to.include({ content: '4', reasoning_content: 'so' })
  })

  it('has finish reasons of OpenAI', () => {
    const finish = (preset: string, reason: string) => translate(preset, [chunk({}, reason)])[0]!.choices[0]!.finish_reason
    expect(finish('mistral', 'model_length')).to.equal('length')
    expect(finish('zai', 'sensitive')).to.equal('content_filter')
    expect(finish('zai', 'stop')).to.equal('stop')
  })
})

describe('openai-compatible: an error in a reply', () => {
  const refusalOf = (run: () => unknown) => {
    try {
      run()
    } catch (error) {
      return (error as UpstreamError).refusal
    }
    return undefined
  }

  it('is thrown for a failed generation', () => {
    expect(refusalOf(() => translate('deepseek', [chunk({}, 'insufficient_system_resource')]))).to.deep.equal({ status: 503 })
    expect(refusalOf(() => translate('zai', [chunk({}, 'network_error')]))).to.deep.equal({ status: 503 })
    expect(refusalOf(() => translate('mistral', [chunk({}, 'error')]))).to.deep.equal({ status: 500 })
  })

  it('has its own status within a stream', () => {
    const error = { error: { message: 'slow down', code: 429 } }
    expect(refusalOf(() => translate('groq', [error]))).to.deep.equal({ status: 429, message: 'slow down' })
    expect(refusalOf(() => translate('gemini', [JSON.stringify([error])]))).to.include({ status: 429 })
    const words = { error: { message: 'no', code: 'overloaded' } }
    expect(refusalOf(() => translate('groq', [words]))).to.deep.equal({ status: 502, code: 'overloaded', message: 'no' })
    expect(refusalOf(() => translate('groq', [{ error: 'no' }]))).to.deep.equal({ status: 502, message: 'no' })
  })

  it('is thrown for a whole reply', () => {
    expect(refusalOf(() => translatorOf('groq').completion({ error: { code: '400' } }))).to.include({ status: 400 })
  })

  const malformed = ['{', '[]', '1', '{"choices":{}}', '{"choices":[1]}', '<html>']
  for (const data of malformed) {
    it(`is thrown for the chunk ${data}`, () => {
      expect(() => translate('groq', [data])).to.throw(Error)
    })
  }
  for (const body of [null, 'text', {}, { choices: [] }, { choices: [{ index: 0 }] }, { choices: [null] }]) {
    it(`is thrown for the completion ${JSON.stringify(body)}`, () => {
      expect(() => translatorOf('groq').completion(body)).to.throw(Error)
    })
  }
})

describe('openai-compatible: error replies in other formats', () => {
  const refusal = (preset: string, status: number, body: unknown) =>
    readBy(createProvider({ preset }).error, status, typeof body === 'string' ? body : JSON.stringify(body))
  const readBy = (read: Provider['error'], status: number, body: string) =>
    read === undefined ? readRefusal(status, {}, body) : read({ status, headers: {}, body })

  it('of mistral name the unknown field', () => {
    const detail = [
      { type: 'extra_forbidden', loc: ['body', 'messages', 0, 'user', 'name'], msg: 'Extra inputs are not permitted' },
    ]
    expect(refusal('mistral', 422, { object: 'error', message: { detail } })).to.deep.equal({
      status: 422,
      message: 'Extra inputs are not permitted: messages.0.user.name',
      param: 'messages.0.user.name',
    })
  })

  it('of mistral may have a plain message', () => {
    const body = { object: 'error', message: 'Unexpected role', type: 'invalid_request_message_order', code: '3230' }
    expect(refusal('mistral', 400, body)).to.deep.equal({
      status: 400,
      type: 'invalid_request_message_order',
      code: '3230',
      message: 'Unexpected role',
    })
  })

  it('of gemini have the time to wait', () => {
    const body = JSON.parse(documentedReply('gemini-429'))
    const message = 'The quota of this project is used up.'
    expect(refusal('gemini', 429, [body])).to.deep.equal({ status: 429, message, retryAfter: 27.5 })
  })

  it('of gemini for an invalid key are a 401', () => {
    const details = [{ '@type': 'type.googleapis.com/google.rpc.ErrorInfo', reason: 'API_KEY_INVALID' }]
    expect(refusal('gemini', 400, [{ error: { code: 400, message: 'API key not valid.', details } }])).to.include({ status: 401 })
  })

  for (const body of ['', '<html>', '[]', '{}', 'null', '[{"error":{"details":[null,1]}}]', '{"message":{"detail":[null]}}']) {
    it(`with the body '${body}' are read by their status`, () => {
      expect(refusal('gemini', 500, body)).to.deep.equal({ status: 500 })
      expect(refusal('mistral', 500, body)).to.deep.equal({ status: 500 })
    })
  }

  it("are not read for vendors with OpenAI's format", () => {
    expect(createProvider({ preset: 'openai' })).not.to.have.property('error')
  })
})

describe('openai-compatible: cached tokens beside the counts', () => {
  const usage = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110, cached_tokens: 80 }

  it('are counted as cached, whole and streamed', () => {
    const details = { cached_tokens: 80 }
    const whole = { id: 'c1', choices: [{ index: 0, message: { content: 'Hi' }, finish_reason: 'stop' }], usage }
    expect(translatorOf('moonshot').completion(whole).usage).to.deep.include({ prompt_tokens_details: details })
    const [last] = translate('moonshot', [{ ...chunk({}, 'stop'), usage }])
    expect(last!.usage).to.deep.include({ prompt_tokens_details: details })
  })

  it('stay as they are in the details', () => {
    const both = { ...usage, prompt_tokens_details: { cached_tokens: 70 } }
    const [last] = translate('moonshot', [{ ...chunk({}, 'stop'), usage: both }])
    expect(last!.usage).to.deep.equal(both)
  })
})

describe('openai-compatible: tool calls of an own baseUrl', () => {
  it('are numbered from 0, if its namespace names the quirk', async () => {
    const config = { baseUrl: 'http://127.0.0.1:9/v1', quirks: ['tool-call-parts'] }
    const translator = createProvider(config).translator!(...fakeCallAndAttempt())!
    const normaliser = new StreamNormaliser({ model: 'local/m', includeUsage: false, choices: 1 })
    const part = (more: object) => chunk({ tool_calls: [{ index: 1, ...more }] })
    const events = [
      part({ id: 'a', type: 'function', function: { name: 'look', arguments: '' } }),
      part({ function: { arguments: '{}' } }),
      chunk({}, 'tool_calls'),
    ]
    const chunks = events.flatMap((event) => [...translator.event({ type: '', data: JSON.stringify(event) })])
    const parts = chunks.flatMap((one) => normaliser.push(one)).flatMap(({ choices }) => choices[0]!.delta.tool_calls ?? [])
    expect(parts.map(({ index }) => index)).to.deep.equal([0, 0])
  })
})

describe('openai-compatible: vendors without quirks', () => {
  for (const config of [
    { preset: 'openai' },
    { preset: 'openrouter' },
    { preset: 'vllm' },
    { baseUrl: 'http://127.0.0.1:9/v1' },
  ]) {
    it(`are relayed byte for byte: ${Object.values(config)[0]}`, () => {
      expect(createProvider(config).translator?.(...fakeCallAndAttempt())).to.equal(undefined)
    })
  }
})
