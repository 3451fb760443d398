import { expect } from 'chai'
import type OpenAI from 'openai'
import { APIError, toFile } from 'openai'
import type { TestGateway } from '../../../support/gateway.ts'
import { startSandboxGateway } from './sandbox.ts'

/** The signature, the width and the height of a PNG. */
const pngHead = (png: Buffer) => [png.subarray(0, 8).toString('latin1'), png.readUInt32BE(16), png.readUInt32BE(20)]

describe('sandbox: the other endpoints, as a newcomer tries them with the official SDK', () => {
  let gateway: TestGateway
  let client: OpenAI
  const model = 'openai/any'

  before(async () => {
    gateway = await startSandboxGateway()
    client = gateway.openai(gateway.testKey).withOptions({ maxRetries: 0 })
  })

  after(() => gateway?.stop())

  async function refusal(promise: PromiseLike<unknown>) {
    const error = await promise.then(
      () => expect.fail('it was not refused'),
      (reason: unknown) => reason,
    )
    expect(error).to.be.instanceOf(APIError)
    const { status, param, message } = error as APIError
    return { status, param, message }
  }

  const rerank = async (body: object) => {
    const got = await gateway.fetch('/v1/rerank', {
      method: 'POST',
      key: gateway.testKey,
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, ...body }),
    })
    return (await got.json()) as { readonly results: readonly object[]; readonly usage: object; readonly error?: object }
  }

  describe('completions', () => {
    it('go on a text, always in the same way', async () => {
      const ask = () => client.completions.create({ model: 'sandbox/echo', prompt: 'one two three', max_tokens: 2 })
      const first = await ask()
      expect(first.choices).to.deep.equal([{ text: 'one two', index: 0, logprobs: null, finish_reason: 'length' }])
      expect(first.usage).to.deep.equal({ prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 })
      expect(await ask()).to.deep.equal(first)
    })

    it('have n choices for each prompt, whole and streamed', async () => {
      const asked = { model: 'sandbox/echo', prompt: ['a b', 'c'], n: 2 }
      const whole = await client.completions.create(asked)
      expect(whole.choices.map(({ text }) => text)).to.deep.equal(['a b', 'a b', 'c', 'c'])
      const texts = ['', '', '', '']
      const stream = await client.completions.create({ ...asked, stream: true, stream_options: { include_usage: true } })
      let usage: unknown
      for await (const chunk of stream) {
        for (const { index, text } of chunk.choices) texts[index] += text
        usage = chunk.usage ?? usage
      }
      expect([texts, usage]).to.deep.equal([['a b', 'a b', 'c', 'c'], whole.usage])
    })

    it('end at a stop sequence, and take lists of tokens', async () => {
      const asked = { model: 'sandbox/echo', max_tokens: 9 }
      const [stopped] = (await client.completions.create({ ...asked, prompt: 'one two three', stop: ' two' })).choices
      expect(stopped).to.include({ text: 'one', finish_reason: 'stop' })
      expect((await client.completions.create({ ...asked, prompt: [1, 2, 3] })).choices[0]!.text).to.equal('3 tokens')
    })

    it('are refused where there would be more than 128 choices', async () => {
      const asked = { model, prompt: Array(3).fill('a'), n: 64 }
      expect(await refusal(client.completions.create(asked))).to.include({ status: 400, param: 'prompt' })
    })
  })

  it('moderations flag a text that names a category', async () => {
    const { results } = await client.moderations.create({ model, input: ['a kind word', 'It is about self-harm/intent, hate.'] })
    expect(results.map(({ flagged }) => flagged)).to.deep.equal([false, true])
    const flagged = Object.entries(results[1]!.categories).flatMap(([name, is]) => (is ? [name] : []))
    expect(flagged).to.deep.equal(['hate', 'self-harm/intent'])
    const parts = [{ type: 'text' as const, text: 'violence' }]
    expect((await client.moderations.create({ model, input: parts })).results[0]!.category_scores.violence).to.equal(1)
  })

  it('pictures are PNGs of one pixel, the same for the same prompt', async () => {
    const ask = async (prompt: string, more: object = {}) => (await client.images.generate({ model, prompt, ...more })).data!
    const [first, second] = await ask('A fox', { n: 2 })
    const png = Buffer.from(first!.b64_json!, 'base64')
    expect(pngHead(png)).to.deep.equal(['\x89PNG\r\n\x1a\n', 1, 1])
    expect(second!.b64_json).to.not.equal(first!.b64_json)
    expect((await ask('A fox'))[0]!.b64_json).to.equal(first!.b64_json)
    const [linked] = await ask('A fox', { response_format: 'url' })
    expect(Buffer.from(await (await fetch(linked!.url!)).arrayBuffer())).to.deep.equal(png)
    const stream = await client.images.generate({ model, prompt: 'A fox', stream: true })
    const events = await Array.fromAsync(stream)
    expect(events).to.have.length(1)
    expect(events[0]).to.include({ type: 'image_generation.completed', b64_json: first!.b64_json })
    expect(await refusal(client.images.generate({ model, prompt: 'A fox', n: 11 }))).to.include({ status: 400, param: 'n' })
  })

  it('speech is a WAV, longer for more words, also as events and as PCM', async () => {
    const asked = { model, voice: 'alloy' }
    const speak = async (input: string, more: object = {}) => {
      const got = await client.audio.speech.create({ ...asked, input, ...more })
      return { type: got.headers.get('content-type'), sound: Buffer.from(await got.arrayBuffer()) }
    }
    const { type, sound } = await speak('Hello there')
    expect([type, sound.toString('latin1', 0, 4), sound.readUInt32LE(4)]).to.deep.equal(['audio/wav', 'RIFF', sound.length - 8])
    // A tenth of a second for each word.
    expect(sound.readUInt32LE(40) / sound.readUInt32LE(28)).to.equal(0.2)
    expect((await speak('Hello there', { response_format: 'pcm' })).sound).to.deep.equal(sound.subarray(44))
    const events = (await speak('Hello there', { stream_format: 'sse' })).sound.toString().match(/^data: .*$/gm)!
    const audio = events.map((event) => Buffer.from(JSON.parse(event.slice(6)).audio ?? '', 'base64'))
    expect(Buffer.concat(audio)).to.deep.equal(sound)
    expect(JSON.parse(events.at(-1)!.slice(6)).usage).to.deep.equal({ input_tokens: 2, output_tokens: 2, total_tokens: 4 })
    const refused = await refusal(client.audio.speech.create({ ...asked, input: 'Hi', response_format: 'mp3' }))
    expect(refused).to.include({ status: 400, param: 'response_format' })
  })

  it('transcripts name the file, in each format and as a stream', async () => {
    const text = 'Hello from the sandbox. It cannot hear a.mp3, which has 4 bytes.'
    const file = () => toFile(Buffer.from([0xff, 0xfb, 0, 1]), 'a.mp3')
    const ask = async (more: object = {}) => client.audio.transcriptions.create({ model, file: await file(), ...more })
    expect(await ask()).to.include({ text })
    expect(await ask({ response_format: 'verbose_json' })).to.include({ text, task: 'transcribe' })
    expect(await ask({ response_format: 'text' })).to.equal(`${text}\n`)
    expect(await ask({ response_format: 'vtt' })).to.match(/^WEBVTT\n\n00:00/)
    const stream = await client.audio.transcriptions.create({ model, file: await file(), stream: true })
    const events = await Array.fromAsync(stream)
    expect(events.map((event) => ('delta' in event ? event.delta : '')).join('')).to.equal(text)
    expect(events.at(-1)).to.include({ type: 'transcript.text.done', text })
    expect(await refusal(ask({ response_format: 'lrc' }))).to.include({ status: 400, param: 'response_format' })
  })

  it('documents are ranked by the words of the query that they have', async () => {
    const documents = ['A hen', { text: 'The quick fox' }, 'the fox, and a hen']
    const { results, usage } = await rerank({ query: 'quick fox', documents, top_n: 2, return_documents: true })
    expect(results).to.deep.equal([
      { index: 1, relevance_score: 1, document: { text: 'The quick fox' } },
      { index: 2, relevance_score: 0.5, document: { text: 'the fox, and a hen' } },
    ])
    expect(usage).to.deep.equal({ total_tokens: 12 })
  })

  it('fail on request', async () => {
    const order = 'Hi\nsandbox: status=429 retry-after=2'
    const file = await toFile(Buffer.from([0]), 'a.mp3')
    for (const promise of [
      client.completions.create({ model, prompt: order }),
      client.moderations.create({ model, input: ['Hi', order] }),
      client.images.generate({ model, prompt: order }),
      client.audio.speech.create({ model, input: order, voice: 'alloy' }),
      client.audio.transcriptions.create({ model, file, prompt: order }),
    ])
      expect(await refusal(promise)).to.include({ status: 429 })
    expect(await rerank({ query: order, documents: ['a'] })).to.have.nested.property('error.code', 'rate_limit_exceeded')
    const cut = await client.completions.create({ model, prompt: 'Hi\nsandbox: cut=2 interval=1ms', stream: true })
    expect(await Array.fromAsync(cut).catch((error: APIError) => error.code)).to.equal('upstream_disconnected')
  })

  it('refuse a form that is larger than what the sandbox takes', async () => {
    const file = await toFile(Buffer.alloc((1 << 20) + 1), 'a.mp3')
    expect(await refusal(client.audio.transcriptions.create({ model, file }))).to.include({ status: 413 })
  })
})
