import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { DIRECTIVES } from '../../../../plugins/providers/sandbox/directives.ts'
import { ask, bytesOf, complete, piecesOf, refusal, rejection, saying, stream } from './sandbox.ts'

const streaming = (order: string, signal?: AbortSignal) => ask({ ...saying(`a b c d\nsandbox: ${order}`), stream: true }, signal)

/** The pieces before the body failed, and its error. */
async function broken(reply: ReturnType<typeof ask>): Promise<{ pieces: string[]; error: Error }> {
  const pieces: string[] = []
  const read = async () => {
    for await (const piece of piecesOf(reply)) pieces.push(piece)
  }
  return { error: await rejection(read()), pieces }
}

/** The active timers, without the test runner's. */
async function timers(): Promise<number> {
  await new Promise(setImmediate)
  return process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
}

describe('sandbox: faults on request', () => {
  for (const [status, type, code] of [
    [400, 'invalid_request_error', null],
    [401, 'invalid_request_error', 'invalid_api_key'],
    [404, 'invalid_request_error', 'model_not_found'],
    [429, 'requests', 'rate_limit_exceeded'],
    [500, 'server_error', null],
    [529, 'server_error', null],
  ] as const) {
    it(`status=${status} fails with an error of OpenAI`, async () => {
      const { error, ...reply } = await refusal(saying(`sandbox: status=${status}`))
      expect(reply).to.deep.equal({ status })
      expect(error).to.deep.equal({ message: `The sandbox fails with status ${status}, as requested.`, type, param: null, code })
    })
  }

  it('retry-after sets the header', () => {
    const { status, headers } = ask(saying('sandbox: status=429 retry-after=2'))
    expect(status).to.equal(429)
    expect(headers).to.deep.equal({ 'content-type': 'application/json', 'retry-after': '2' })
  })

  it('a directive is removed from the message', async () => {
    expect((await complete(saying('Hello\n  sandbox: finish=length\r\nthere'))).choices[0]!.message.content).to.equal(
      'Hello\nthere',
    )
  })

  for (const text of [
    'sandbox: is a nice place',
    'sandbox:',
    'a sandbox: status=500',
    'sandbox: status=500 please',
    'Sandbox: status=500',
  ]) {
    it(`'${text}' is not a directive`, async () => {
      expect((await complete(saying(text))).choices[0]!.message.content).to.equal(text)
    })
  }

  it('only the last user message has directives', async () => {
    const messages = [
      { role: 'user', content: 'sandbox: status=500' },
      { role: 'user', content: 'ok' },
      { role: 'system', content: 'sandbox: status=500' },
    ]
    expect((await complete({ messages })).choices[0]!.message.content).to.equal('ok')
  })

  it('a text part may have directives', async () => {
    const content = [{ type: 'text', text: 'sandbox: status=503' }]
    expect((await refusal({ messages: [{ role: 'user', content }] })).status).to.equal(503)
  })

  it('finish sets the finish reason', async () => {
    expect((await complete(saying('a\nsandbox: finish=content_filter'))).choices[0]!.finish_reason).to.equal('content_filter')
  })

  it('chunks sets the number of chunks', async () => {
    const chunks = await stream(saying('sandbox: chunks=50'))
    expect(chunks).to.have.length(1 + 50 + 1 + 1)
    expect((await complete(saying('sandbox: chunks=3'))).choices[0]!.message.content).to.equal('1 2 3')
  })

  for (const [order, message] of [
    ['status=200', 'status'],
    ['status=600', 'status'],
    ['status=4e2', 'status'],
    ['retry-after=-1', 'retry-after'],
    ['delay=5', 'delay'],
    ['delay=601s', 'delay'],
    ['interval=1m', 'interval'],
    ['chunks=0', 'chunks'],
    ['chunks=10001', 'chunks'],
    ['cut=x', 'cut'],
    ['stall=', 'stall'],
    ['finish=tool_calls', 'finish'],
    ['tool=a,b,c,d,e,f,g,h,i', 'tool'],
    ['explode=now', 'explode'],
    ['constructor=1', 'constructor'],
  ] as const) {
    it(`${order} is a 400 with a list of the valid directives`, async () => {
      const { status, error } = await refusal(saying(`sandbox: ${order}`))
      expect(status).to.equal(400)
      expect(error).to.include({ type: 'invalid_request_error', param: 'messages', code: 'invalid_value' })
      expect(error.message).to.include(`'${message}'`)
    })
  }

  it('more than 100 directives are a 400', async () => {
    const orders = (count: number) => saying(`sandbox: ${'chunks=1 '.repeat(60)}\nsandbox: ${'chunks=2 '.repeat(count - 60)}`)
    expect((await complete(orders(100))).choices[0]!.message.content).to.equal('1 2')
    const { status, error } = await refusal(orders(101))
    expect(status).to.equal(400)
    expect(error).to.include({ param: 'messages', message: 'The sandbox takes 100 directives at most.' })
  })

  it('cut breaks the connection after so many chunks', async () => {
    const { pieces, error } = await broken(streaming('cut=3'))
    expect(pieces).to.have.length(3)
    expect(pieces.join('')).not.to.include('[DONE]').and.not.to.include('"finish_reason":"')
    expect(error.message).to.match(/cut the connection/)
    expect((await broken(streaming('cut=0'))).pieces).to.deep.equal([])
  })

  it('cut after the end has no effect', async () => {
    expect(await bytesOf(streaming('cut=100'))).to.match(/data: \[DONE\]\n\n$/)
  })

  it('cut breaks a whole reply in its middle', async () => {
    const { pieces } = await broken(ask(saying('a b c d\nsandbox: cut=3')))
    expect(pieces).to.have.length(1)
    expect(() => JSON.parse(pieces[0]!)).to.throw(SyntaxError)
    expect((await broken(ask(saying('a\nsandbox: cut=0')))).pieces).to.deep.equal([])
  })

  for (const [what, reply] of [
    ['a stream', (signal: AbortSignal) => streaming('stall=1', signal)],
    ['a whole reply', (signal: AbortSignal) => ask(saying('a b\nsandbox: stall=1'), signal)],
  ] as const) {
    it(`stall stops ${what} until the call is aborted`, async () => {
      const controller = new AbortController()
      const before = await timers()
      const pieces = piecesOf(reply(controller.signal))
      expect((await pieces.next()).done).to.equal(false)
      const next = rejection(pieces.next())
      controller.abort(new Error('enough'))
      expect((await next).message).to.equal('enough')
      expect(await timers()).to.equal(before)
    })
  }

  for (const [what, order] of [
    ['a delay', 'delay=600s'],
    ['the delay of a refusal', 'status=500 delay=600s'],
  ] as const) {
    it(`${what} ends when the call is aborted, and leaves no timer`, async () => {
      const controller = new AbortController()
      const before = await timers()
      const next = rejection(piecesOf(streaming(order, controller.signal)).next())
      const during = await timers()
      controller.abort(new Error('enough'))
      expect(during).to.equal(before + 1)
      expect((await next).message).to.equal('enough')
      expect(await timers()).to.equal(before)
    })
  }

  it('an interval ends when the call is aborted', async () => {
    const controller = new AbortController()
    const pieces = piecesOf(streaming('interval=600s', controller.signal))
    await pieces.next()
    const next = rejection(pieces.next())
    controller.abort(new Error('enough'))
    expect((await next).message).to.equal('enough')
  })

  it('nothing is sent for an aborted call', async () => {
    const { error, pieces } = await broken(streaming('delay=1ms', AbortSignal.abort(new Error('enough'))))
    expect({ pieces, message: error.message }).to.deep.equal({ pieces: [], message: 'enough' })
  })

  it('directives of several lines combine', async () => {
    const { pieces } = await broken(ask({ ...saying('sandbox: chunks=9 delay=1ms\nsandbox: interval=1ms cut=4'), stream: true }))
    expect(pieces.map((piece) => JSON.parse(piece.slice(6)).choices[0].delta.content)).to.deep.equal(['', '1', ' 2', ' 3'])
  })

  it('the directives are those of docs/sandbox.md', () => {
    const docs = readFileSync(new URL('../../../../docs/sandbox.md', import.meta.url), 'utf8')
    const documented = [...docs.matchAll(/^\| `([a-z-]+)=[^`]+` \|/gm)].map(([, name]) => name)
    expect(documented).to.have.members(Object.keys(DIRECTIVES))
  })
})
