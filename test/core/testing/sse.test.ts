import { expect } from 'chai'
import { createParser, type EventSourceMessage } from 'eventsource-parser'
import {
  BOM,
  comment,
  DONE,
  event,
  hold,
  pieces,
  type ScriptedUpstream,
  scriptedUpstream,
  sse,
  withLineEnds,
} from 'unified-model-gateway/plugin/testing'

function parse(text: string): Partial<EventSourceMessage>[] {
  const events: EventSourceMessage[] = []
  const parser = createParser({ onEvent: (message) => events.push(message) })
  parser.feed(text)
  return events
}

describe('A scripted event stream', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  it('is readable for an SSE parser, with comments and a BOM among the events', async () => {
    upstream.reply(sse([BOM, { n: 1 }, comment('ping'), event({ n: 2 }, 'delta'), DONE]))
    const response = await fetch(upstream.origin)
    expect(response.headers.get('content-type')).to.equal('text/event-stream')
    // As fetch's text() drops a BOM by itself, the bytes are looked at.
    const bytes = Buffer.from(await response.arrayBuffer())
    expect(bytes.subarray(0, 3)).to.deep.equal(Buffer.from([0xef, 0xbb, 0xbf]))
    expect(parse(bytes.toString())).to.deep.equal([
      { id: undefined, event: undefined, data: '{"n":1}' },
      { id: undefined, event: 'delta', data: '{"n":2}' },
      { id: undefined, event: undefined, data: '[DONE]' },
    ])
  })

  for (const lineEnd of ['\r\n', '\r'] as const) {
    it(`can end its lines with ${JSON.stringify(lineEnd)}`, async () => {
      upstream.reply(sse([withLineEnds(event({ n: 1 }, 'delta') + comment('x'), lineEnd)]))
      const text = await (await fetch(upstream.origin)).text()
      expect(text).to.equal(`event: delta${lineEnd}data: {"n":1}${lineEnd}${lineEnd}: x${lineEnd}${lineEnd}`)
    })
  }

  it('is the same in pieces of any size', async () => {
    const stream = sse([{ text: 'grüß dich 🌍' }, DONE])
    for (const size of [1, 2, 3, 7, Infinity]) {
      upstream.reply(pieces(stream, size))
      expect(await (await fetch(upstream.origin)).text()).to.equal(`${event({ text: 'grüß dich 🌍' })}${DONE}`)
    }
  })

  it('can stall between two events', async () => {
    const stalled = hold()
    upstream.reply(sse([{ n: 1 }, stalled, { n: 2 }]))
    const reader = (await fetch(upstream.origin)).body?.pipeThrough(new TextDecoderStream()).getReader()
    expect((await reader?.read())?.value).to.equal(event({ n: 1 }))
    await stalled.reached
    stalled.release()
    expect((await reader?.read())?.value).to.equal(event({ n: 2 }))
    await reader?.read()
  })
})
