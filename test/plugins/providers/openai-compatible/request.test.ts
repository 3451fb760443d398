import { expect } from 'chai'
import type { Secret, UpstreamRequest } from 'unified-model-gateway/plugin'
import { type FakeCall, fakeAttempt, fakeCall } from '../../../support/fake-call.ts'
import { createProvider } from './provider.ts'

const OPENAI = { preset: 'openai', apiKey: 'sk-upstream' }

async function send(config: Record<string, unknown>, call: FakeCall = fakeCall()): Promise<UpstreamRequest> {
  return (await createProvider(config).request(call, fakeAttempt(call))) as UpstreamRequest
}

const sent = async (config: Record<string, unknown>, body: Record<string, unknown>) =>
  JSON.parse(String((await send(config, fakeCall(body))).body)) as Record<string, unknown>

describe('openai-compatible: a request', () => {
  it("is sent to /chat/completions after the base URL's path", async () => {
    const request = await send({ baseUrl: 'https://host.example:8443/some%20path/v1/' })
    expect(request.origin).to.equal('https://host.example:8443')
    expect(request.path).to.equal('/some%20path/v1/chat/completions')
  })

  it("is sent to the baseUrl if it overrides the preset's", async () => {
    expect((await send({ ...OPENAI, baseUrl: 'http://127.0.0.1:9/v1' })).origin).to.equal('http://127.0.0.1:9')
  })

  it("has the client's own bytes with another model", async () => {
    const body =
      '{ "seed":9223372036854775807,"model" : "openai/gpt-5.5", "x":{"b":1,"a":[1.0,1e2]},"messages":[{"role":"user","content":"\\u00e9"}] }'
    const call = fakeCall(body)
    const request = (await createProvider(OPENAI).request(call, fakeAttempt(call, { model: 'gpt-5.5' }))) as UpstreamRequest
    expect(String(request.body)).to.equal(body.replace('"openai/gpt-5.5"', '"gpt-5.5"'))
    expect(call.parsed, 'the body was parsed').to.equal(false)
  })

  it("of a stream requests usage, and keeps the client's other stream options", async () => {
    expect((await sent(OPENAI, { stream: true })).stream_options).to.deep.equal({ include_usage: true })
    expect((await sent(OPENAI, { stream: true, stream_options: null })).stream_options).to.deep.equal({ include_usage: true })
    const options = { include_usage: false, include_obfuscation: false }
    expect((await sent(OPENAI, { stream: true, stream_options: options })).stream_options).to.deep.equal({
      ...options,
      include_usage: true,
    })
  })

  it('of a stream is not parsed for a vendor without quirks', async () => {
    const call = fakeCall({ stream: true, stream_options: { include_obfuscation: false } })
    await send(OPENAI, call)
    expect(call.parsed).to.equal(false)
  })

  it('without a stream does not request usage', async () => {
    expect(await sent(OPENAI, {})).not.to.have.property('stream_options')
  })

  it("has the call's headers, the configured ones and the key, which cannot be printed", async () => {
    const call = fakeCall({}, { headers: { 'content-type': 'application/json', 'x-from-link': '1' } })
    const request = await send({ ...OPENAI, headers: { 'X-Title': 'Gateway' } }, call)
    expect(request.headers).to.include({ 'content-type': 'application/json', 'x-from-link': '1', 'x-title': 'Gateway' })
    const { authorization } = request.headers
    expect((authorization as Secret).reveal()).to.equal('Bearer sk-upstream')
    expect(JSON.stringify(request)).not.to.include('sk-upstream')
  })

  it('has no authorization without a key', async () => {
    expect((await send({ preset: 'ollama' })).headers).not.to.have.property('authorization')
  })

  it('is created for each attempt', async () => {
    const provider = createProvider(OPENAI)
    const call = fakeCall()
    const models = ['a', 'b'].map((model) => provider.request(call, fakeAttempt(call, { model })) as UpstreamRequest)
    expect(models.map(({ body }) => JSON.parse(String(body)).model)).to.deep.equal(['a', 'b'])
  })
})

describe('openai-compatible: requests to vendors with quirks', () => {
  const system = { role: 'system', content: 'Be brief' }
  const developer = { role: 'developer', content: 'Be brief' }
  const user = { role: 'user', content: 'Hello' }

  for (const preset of ['deepseek', 'mistral', 'alibaba', 'zai', 'ollama']) {
    it(`${preset} gets a developer message as a system message`, async () => {
      expect((await sent({ preset }, { messages: [developer, user] })).messages).to.deep.equal([system, user])
    })
  }

  it('openai gets a developer message unchanged', async () => {
    expect((await sent(OPENAI, { messages: [developer, user] })).messages).to.deep.equal([developer, user])
  })

  for (const preset of ['deepseek', 'mistral', 'ollama']) {
    it(`${preset} gets max_completion_tokens under its old name`, async () => {
      const body = await sent({ preset }, { max_completion_tokens: 7 })
      expect(body).to.include({ max_tokens: 7 }).and.not.have.property('max_completion_tokens')
    })
  }

  it('max_tokens is kept if max_completion_tokens is null or absent', async () => {
    const body = await sent({ preset: 'mistral' }, { max_completion_tokens: null, max_tokens: 5 })
    expect(body).to.include({ max_tokens: 5 }).and.not.have.property('max_completion_tokens')
    expect(await sent({ preset: 'mistral' }, { max_tokens: 5 })).to.include({ max_tokens: 5 })
    expect(await sent({ preset: 'mistral' }, {})).not.to.have.property('max_tokens')
  })

  for (const preset of ['mistral', 'perplexity']) {
    it(`${preset} gets no stream_options, not even the client’s`, async () => {
      expect(await sent({ preset }, { stream: true })).not.to.have.property('stream_options')
      const asked = { stream: true, stream_options: { include_usage: true } }
      expect(await sent({ preset }, asked)).not.to.have.property('stream_options')
    })
  }

  it('mistral gets earlier answers without reasoning, and developer messages as system messages', async () => {
    const answer = { role: 'assistant', content: '4', reasoning_content: '2 and 2' }
    const { messages } = await sent({ preset: 'mistral' }, { messages: [developer, user, answer, user] })
    expect(messages).to.deep.equal([system, user, { role: 'assistant', content: '4' }, user])
  })

  it('an answer that has nothing of another vendor is not parsed, nor is one that asks for reasoning in a way that OpenAI refuses', async () => {
    const body =
      '{"model":"openai/m","reasoning":{},"messages":[{"role":"assistant","content":"reasoning_content, extra_content","n":1.0}]}'
    const call = fakeCall(body)
    const { body: bytes } = await send(OPENAI, call)
    expect(String(bytes)).to.equal(body.replace('openai/m', 'm').replace('"reasoning":{},', ''))
  })

  const callsOf = (...ids: string[]) => ({
    role: 'assistant',
    content: null,
    tool_calls: ids.map((id) => ({ id, type: 'function', function: { name: 'look', arguments: '{}' } })),
  })
  const resultOf = (id: string) => ({ role: 'tool', tool_call_id: id, content: 'r' })
  type Told = { tool_calls?: { id: string }[]; tool_call_id?: string }
  /** The ids of calls and results, in order. */
  const idsIn = async (preset: string, messages: object[]): Promise<string[]> => {
    const told = (await sent({ preset }, { messages })).messages as Told[]
    return told.flatMap(({ tool_calls: calls, tool_call_id: id }) =>
      id === undefined ? (calls ?? []).map((one) => one.id) : [id],
    )
  }

  it('mistral gets ids of tool calls of other models as nine letters and digits, in calls and results', async () => {
    const foreign = ['toolu_01AbCdEfGhIjKlMnOpQrStUv', 'call_abc-1']
    const conversation = [user, callsOf(...foreign), resultOf(foreign[1]!), resultOf(foreign[0]!), user]
    const [first, second, ...results] = await idsIn('mistral', conversation)
    expect([first, second]).to.satisfy((ids: string[]) => ids.every((id) => /^[a-zA-Z0-9]{9}$/.test(id)))
    expect(results).to.deep.equal([second, first])
    expect(first).not.to.equal(second)
    expect(await idsIn('mistral', conversation), 'the next time').to.deep.equal([first, second, ...results])
  })

  it('mistral gets each call of a conversation with an id of its own, also where a client uses one twice', async () => {
    const again = [
      user,
      callsOf('call_1', 'call_1'),
      resultOf('call_1'),
      resultOf('call_1'),
      callsOf('call_1'),
      resultOf('call_1'),
    ]
    const [a, b, ofA, ofB, c, ofC] = await idsIn('mistral', again)
    expect(new Set([a, b, c]).size).to.equal(3)
    expect([ofA, ofB, ofC]).to.deep.equal([a, b, c])
  })

  it('mistral gets its own ids as they are, and the bytes of such a conversation', async () => {
    const body = '{"model":"mistral/m","messages":[{"role":"user","content":"hi","n":9223372036854775807}]}'
    const call = fakeCall(body)
    const { body: bytes } = await send({ preset: 'mistral', quirks: [] }, call)
    expect(String(bytes)).to.equal(body.replace('mistral/m', 'm'))
    const own = [user, callsOf('aB3dE6gH9'), resultOf('aB3dE6gH9')]
    expect(await idsIn('mistral', own)).to.deep.equal(['aB3dE6gH9', 'aB3dE6gH9'])
  })

  it('an own baseUrl has the quirks that its namespace names', async () => {
    const config = { baseUrl: 'http://127.0.0.1:9/v1', quirks: ['developer-role', 'max-tokens'] }
    const body = await sent(config, { messages: [developer, user], max_completion_tokens: 7 })
    expect(body.messages).to.deep.equal([system, user])
    expect(body).to.include({ max_tokens: 7 }).and.not.have.property('max_completion_tokens')
  })

  it('a preset has the quirks that its namespace names beside its own', async () => {
    const body = await sent({ preset: 'groq', quirks: ['max-tokens'] }, { max_completion_tokens: 7 })
    expect(body).to.include({ max_tokens: 7 })
  })

  it('other bytes are unchanged', async () => {
    const body =
      '{"model":"deepseek/chat","seed":9223372036854775807,"messages":[{"role":"user","content":"hi"}],"max_completion_tokens":3}'
    const call = fakeCall(body)
    const request = (await createProvider({ preset: 'deepseek' }).request(call, fakeAttempt(call))) as UpstreamRequest
    expect(String(request.body)).to.equal(
      '{"max_tokens":3,"model":"chat","seed":9223372036854775807,"messages":[{"role":"user","content":"hi"}]}',
    )
  })
})

describe('openai-compatible: the error for an invalid configuration says what to correct', () => {
  const refused: readonly [string, Record<string, unknown>, RegExp][] = [
    ['neither preset nor baseUrl', {}, /preset .* or baseUrl/],
    ['an invalid address', { baseUrl: 'localhost:11434' }, /http or https URL/],
    ['another scheme', { baseUrl: 'ftp://host/v1' }, /http or https URL/],
    ['a query', { baseUrl: 'https://host/v1?api-version=1' }, /no query/],
    ['a fragment', { baseUrl: 'https://host/v1#x' }, /no fragment/],
    ['the whole endpoint', { baseUrl: 'https://host/v1/chat/completions' }, /before \/chat\/completions/],
    ['a key with a line break', { preset: 'openai', apiKey: 'sk-secret\n' }, /apiKey has a character/],
    ['an invalid name of a header', { preset: 'openai', headers: { 'x y': '1' } }, /^headers\.x y is not a header name/],
    ['a value with a line break', { preset: 'openai', headers: { 'x-a': 'secret\r\nx: 1' } }, /^headers\.x-a has a character/],
    ['one header twice', { preset: 'openai', headers: { 'X-A': '1', 'x-a': '2' } }, /twice/],
    ['the key as a header', { preset: 'openai', headers: { Authorization: 'Bearer secret' } }, /set apiKey/],
  ]
  for (const [what, config, message] of refused) {
    it(what, () => {
      expect(() => createProvider(config))
        .to.throw(Error, message)
        .with.property('message')
        .that.does.not.include('secret')
    })
  }

  it('credentials in the address, without repeating them', () => {
    const create = () => createProvider({ baseUrl: 'https://me:hunter2@host/v1' })
    expect(create)
      .to.throw(Error, /baseUrl must hold no credentials/)
      .with.property('message')
      .that.does.not.include('hunter2')
  })

  for (const name of ['Host', 'Connection', 'Transfer-Encoding', 'content-length', 'Content-Type', 'proxy-authorization', 'TE']) {
    it(`the header ${name}`, () => {
      expect(() => createProvider({ preset: 'openai', headers: { [name]: 'x' } })).to.throw(Error, /cannot be set/)
    })
  }
})
