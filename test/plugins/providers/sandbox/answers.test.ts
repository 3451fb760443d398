import { expect } from 'chai'
import fc from 'fast-check'
import OpenAI from 'openai'
import type { ChatChunk } from 'unified-model-gateway/plugin'
import { ask, bytesOf, complete, piecesOf, provider, refusal, saying, stream } from './sandbox.ts'

const textOf = (chunks: readonly ChatChunk[], choice = 0): string =>
  chunks
    .flatMap(({ choices }) => choices.filter(({ index }) => index === choice).map(({ delta }) => delta.content ?? ''))
    .join('')

describe('sandbox: answers', () => {
  it('echo repeats the last user message', async () => {
    const messages = [
      { role: 'user', content: 'first' },
      { role: 'assistant', content: 'no' },
      { role: 'user', content: ' a  b\n' },
    ]
    const { choices, model, object } = await complete({ model: 'sandbox/echo', messages })
    expect(choices).to.deep.equal([
      { index: 0, message: { role: 'assistant', content: ' a  b\n', refusal: null }, logprobs: null, finish_reason: 'stop' },
    ])
    expect({ model, object }).to.deep.equal({ model: 'sandbox/echo', object: 'chat.completion' })
  })

  it('any model is answered, under the name it was asked by', async () => {
    const { choices, model } = await complete({ model: 'openrouter/meta/llama-3', ...saying('Hi') })
    expect(model).to.equal('openrouter/meta/llama-3')
    expect(choices[0]!.message.content).to.include('openrouter/meta/llama-3').and.include('You said: Hi')
  })

  it('the text parts of a message are read, its images are not', async () => {
    const content = [
      { type: 'text', text: 'a ' },
      { type: 'image_url', image_url: { url: 'https://example.com/x.png' } },
      { type: 'text', text: 'b' },
    ]
    expect((await complete({ messages: [{ role: 'user', content }] })).choices[0]!.message.content).to.equal('a b')
  })

  it('a conversation without a user message has an answer', async () => {
    const { choices } = await complete({ model: 'x/y', messages: [{ role: 'assistant', content: null }] })
    expect(choices[0]!.message.content).to.match(/You said: $/)
  })

  it('a very long message is not repeated whole', async () => {
    const { choices } = await complete(saying('x'.repeat(1_000_000)))
    expect(choices[0]!.message.content).to.have.length(20_000)
  })

  it('a stream is one chunk a word, between the role and the finish', async () => {
    const chunks = await stream(saying('Hello, dear world'))
    const parts = chunks.flatMap(({ choices }) => choices)
    expect(parts.map(({ delta }) => delta)).to.deep.equal([
      { role: 'assistant', content: '', refusal: null },
      { content: 'Hello,' },
      { content: ' dear' },
      { content: ' world' },
      {},
    ])
    expect(parts.map(({ finish_reason }) => finish_reason)).to.deep.equal([null, null, null, null, 'stop'])
    for (const key of ['id', 'created', 'model', 'object'] as const)
      expect(new Set(chunks.map((chunk) => chunk[key]))).to.have.length(1)
  })

  it('a stream ends with its usage; the other chunks have a null for it where the client asked', async () => {
    const plain = await stream(saying('a b'))
    expect(plain.at(-1)).to.deep.include({ choices: [] }).and.have.nested.property('usage.completion_tokens', 2)
    expect(plain[0]).not.to.have.property('usage')
    const asked = await stream({ ...saying('a b'), stream_options: { include_usage: true } })
    expect(asked.slice(0, -1).every(({ usage }) => usage === null)).to.equal(true)
    expect(asked.at(-1)!.usage).to.deep.equal(plain.at(-1)!.usage)
  })

  it('a model whose name says so reasons first', async () => {
    const [, first] = await stream({ model: 'x/my-Reasoner-2', ...saying('a b') })
    expect(first!.choices[0]!.delta).to.deep.equal({ reasoning_content: 'The' })
    const { choices, usage } = await complete({ model: 'sandbox/reasoner', ...saying('a b') })
    expect(choices[0]!.message.reasoning_content).to.match(/wrote 2 words/)
    expect(usage!.completion_tokens_details!.reasoning_tokens).to.be.greaterThan(0)
  })

  it('n choices come back, and take turns in a stream', async () => {
    const { choices, usage } = await complete({ ...saying('a b'), n: 3 })
    expect(choices.map(({ index, message }) => [index, message.content])).to.deep.equal([0, 1, 2].map((index) => [index, 'a b']))
    expect(usage).to.include({ prompt_tokens: 2, completion_tokens: 6, total_tokens: 8 })
    const chunks = await stream({ ...saying('a b'), n: 2 })
    const turns = chunks.flatMap((chunk) => chunk.choices.map(({ index }) => index))
    expect(turns).to.deep.equal([0, 1, 0, 1, 0, 1, 0, 1])
    expect([textOf(chunks, 0), textOf(chunks, 1)]).to.deep.equal(['a b', 'a b'])
  })

  for (const limit of ['max_tokens', 'max_completion_tokens']) {
    it(`${limit} cuts the answer short`, async () => {
      const { choices, usage } = await complete({ ...saying('one two three'), [limit]: 2 })
      expect(choices[0]).to.deep.include({ finish_reason: 'length' }).and.have.nested.property('message.content', 'one two')
      expect(usage!.completion_tokens).to.equal(2)
      const exact = await complete({ ...saying('one two three'), [limit]: 3 })
      expect(exact.choices[0]!.finish_reason).to.equal('stop')
    })
  }

  it('the text ends before the first stop sequence', async () => {
    const stopped = async (stop: unknown) => (await complete({ ...saying('one two three'), stop })).choices[0]!.message.content
    expect(await stopped('two')).to.equal('one ')
    expect(await stopped(['three', ' two', 'x'])).to.equal('one')
    expect(await stopped(['', 'x'])).to.equal('one two three')
    expect(await stopped(null)).to.equal('one two three')
    expect(await stopped(['a', 'b', 'c', 'two'])).to.equal('one ')
  })

  it('more stop sequences than OpenAI takes are a 400', async () => {
    const { status, error } = await refusal({ ...saying('one two three'), stop: ['a', 'b', 'c', 'd', 'two'] })
    expect({ status, ...error }).to.include({ status: 400, param: 'stop', code: 'invalid_value' })
  })

  it('the same request gets the same bytes, and another one another id', async () => {
    const request = fc.record({
      messages: fc.array(
        fc.record({ role: fc.constantFrom('user', 'system', 'tool'), content: fc.string({ unit: 'grapheme' }) }),
        { minLength: 1 },
      ),
      stream: fc.boolean(),
      n: fc.constantFrom(1, 2),
      max_tokens: fc.option(fc.integer({ min: 1, max: 9 })),
    })
    await fc.assert(
      fc.asyncProperty(request, request, async (body, other) => {
        const [first, second] = [await bytesOf(ask(body)), await bytesOf(ask(body))]
        expect(first).to.equal(second)
        if (JSON.stringify(body) !== JSON.stringify(other)) expect(idIn(first)).not.to.equal(idIn(await bytesOf(ask(other))))
      }),
      { numRuns: 50 },
    )
  })

  it('a stream says what the whole reply says', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme' }), fc.option(fc.integer({ min: 1, max: 9 })), async (text, max_tokens) => {
        const body = { ...saying(text), max_tokens }
        const [whole, chunks] = [await complete(body), await stream(body)]
        expect(textOf(chunks)).to.equal(whole.choices[0]!.message.content)
        expect(chunks.at(-2)!.choices[0]!.finish_reason).to.equal(whole.choices[0]!.finish_reason)
        expect(chunks.at(-1)!.usage).to.deep.equal(whole.usage)
      }),
      { numRuns: 50 },
    )
  })

  it('the official SDK reads whole replies, streams and their tool calls', async () => {
    const fetch = async (_: unknown, init?: RequestInit) => {
      const { headers, ...reply } = ask(JSON.parse(String(init!.body)))
      return new Response(await bytesOf(reply), { headers })
    }
    const { completions } = new OpenAI({ apiKey: 'sk-test-', fetch }).chat
    const messages = [{ role: 'user', content: 'sandbox: tool=f' }] as const
    const tools = [{ type: 'function', function: { name: 'f', parameters: { properties: { a: { type: 'integer' } } } } }] as const
    const body = { model: 'sandbox/echo', messages: [...messages], tools: [...tools] }
    const whole = await completions.create(body)
    const streamed = await completions.stream(body).finalChatCompletion()
    for (const { choices, usage } of [whole, streamed]) {
      expect(choices[0]!.finish_reason).to.equal('tool_calls')
      expect(choices[0]!.message.tool_calls![0])
        .to.deep.include({ type: 'function' })
        .and.have.nested.property('function.arguments', '{"a":1}')
      expect(usage).to.include({ completion_tokens: 3 })
    }
  })

  it('the id is not the request’s, and created is a time', async () => {
    const { id, created } = await complete(saying('a'))
    expect(id).to.match(/^chatcmpl-[0-9a-f]{24}$/)
    expect(created).to.be.within(1_700_000_000, 1_731_536_000)
  })

  it('a long stream leaves time for other calls', async () => {
    let turns = 0
    const count = () => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    for await (const _ of piecesOf(ask({ ...saying('sandbox: chunks=5000'), stream: true })));
    clearImmediate(timer)
    expect(turns).to.be.greaterThan(10)
  })
})

describe('sandbox: the models', () => {
  it('are listed', async () => {
    const models = await provider.models!(new AbortController().signal)
    expect(models.map(({ id }) => id)).to.deep.equal(['echo', 'hello', 'reasoner'])
  })
})

const idIn = (bytes: string): string | undefined => /"id":"(chatcmpl-[^"]+)"/.exec(bytes)?.[1]
