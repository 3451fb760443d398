import { expect } from 'chai'
import type { LocalReply } from 'unified-model-gateway/plugin'
import { fakeAttempt, fakeCall } from '../../../support/fake-call.ts'
import { bytesOf, piecesOf, provider, rejection } from './sandbox.ts'

interface Embeddings {
  readonly data: readonly { readonly embedding: readonly number[] }[]
  readonly model: string
  readonly usage: object
}

/** The reply to a request for embeddings, before its body is read. */
function ask(body: object, signal = new AbortController().signal): LocalReply {
  const call = fakeCall({ model: 'sandbox/e', ...body })
  return provider.endpoints!.embeddings!.request(call, fakeAttempt(call, { signal })) as LocalReply
}

async function embeddings(body: object): Promise<Embeddings> {
  const reply = ask(body)
  expect(reply.status).to.equal(200)
  return JSON.parse(await bytesOf(reply))
}

const vectorOf = async (input: unknown, more: object = {}) => (await embeddings({ input, ...more })).data[0]!.embedding

async function refusal(body: object) {
  const reply = ask(body)
  const { error } = JSON.parse(await bytesOf(reply)) as { error: { message: string; param: string } }
  return { status: reply.status, headers: reply.headers, ...error }
}

describe('sandbox: embeddings', () => {
  it('are the same for the same text, different for another, and of length 1', async () => {
    const texts = ['', 'a', 'b', 'a long text '.repeat(500), 'Grüße, 世界']
    const { data } = await embeddings({ input: texts })
    for (const { embedding } of data) {
      expect(embedding).to.have.length(1536)
      expect(Math.hypot(...embedding)).to.be.closeTo(1, 1e-6)
    }
    expect(new Set(data.map(({ embedding }) => embedding[0]))).to.have.length(texts.length)
    expect(await vectorOf('a')).to.deep.equal(data[1]!.embedding)
  })

  it('have the requested dimensions', async () => {
    for (const dimensions of [1, 256, 3072]) expect(await vectorOf('a', { dimensions })).to.have.length(dimensions)
  })

  it('are the same in base64', async () => {
    const text = (await vectorOf('a', { encoding_format: 'base64', dimensions: 8 })) as unknown as string
    const bytes = Buffer.from(text, 'base64')
    const numbers = Array.from({ length: 8 }, (_, index) => bytes.readFloatLE(4 * index))
    expect(numbers).to.deep.equal(await vectorOf('a', { dimensions: 8 }))
  })

  it('can be of tokens, and count words or tokens', async () => {
    const { usage, model } = await embeddings({ input: ['How are you?', 'Fine'] })
    expect([usage, model]).to.deep.equal([{ prompt_tokens: 4, total_tokens: 4 }, 'sandbox/e'])
    expect((await embeddings({ input: [1, 2, 3] })).usage).to.deep.equal({ prompt_tokens: 3, total_tokens: 3 })
    const { data, usage: both } = await embeddings({ input: [[1, 2], [3]] })
    expect([data.length, both]).to.deep.equal([2, { prompt_tokens: 3, total_tokens: 3 }])
  })

  for (const [name, body, param] of [
    ['too many inputs', { input: Array(2049).fill('a') }, 'input'],
    ['an invalid input', { input: ['a', 7] }, 'input'],
    ['too many dimensions', { input: 'a', dimensions: 3073 }, 'dimensions'],
    ['an unknown directive', { input: 'a\nsandbox: sleep=1s' }, 'input'],
  ] as const) {
    it(`are refused for ${name}`, async () => {
      expect(await refusal(body)).to.include({ status: 400, param })
    })
  }

  it('fail by directives of the last text, which is embedded without them', async () => {
    const failed = await refusal({ input: ['a', 'b\nsandbox: status=429 retry-after=2'] })
    expect(failed).to.include({ status: 429 })
    expect(failed.headers).to.include({ 'retry-after': '2' })
    expect(await vectorOf('a\nsandbox: delay=0ms')).to.deep.equal(await vectorOf('a'))
  })

  it('do not block the event loop', async () => {
    let turns = 0
    const count = () => {
      turns++
      timer = setImmediate(count)
    }
    let timer = setImmediate(count)
    for await (const _ of piecesOf(ask({ input: Array(20).fill('a'), dimensions: 3072 })));
    clearImmediate(timer)
    expect(turns).to.be.at.least(20)
  })

  it('can be cut or stall in the middle', async () => {
    const pieces: string[] = []
    const read = async () => {
      for await (const piece of piecesOf(ask({ input: ['a', 'b', 'c', 'd\nsandbox: cut=1'] }))) pieces.push(piece)
    }
    expect((await rejection(read())).message).to.contain('cut the connection')
    expect(pieces).to.have.length(2)
    const client = new AbortController()
    const stalled = piecesOf(ask({ input: 'a\nsandbox: stall=1' }, client.signal))
    expect((await stalled.next()).done).to.equal(false)
    const waiting = rejection(stalled.next())
    client.abort(new Error('left'))
    expect((await waiting).message).to.equal('left')
  })
})
