import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import {
  chunk,
  encoded,
  FIN,
  type Framing,
  head,
  hold,
  html,
  json,
  lastChunk,
  RETRY_AFTER_FORMS,
  reply,
  retryAfter,
  type ScriptedUpstream,
  scriptedUpstream,
} from 'unified-model-gateway/plugin/testing'

describe('A scripted reply', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  for (const framing of ['length', 'chunked', 'close'] satisfies Framing[]) {
    it(`is complete for an HTTP client when framed by ${framing}`, async () => {
      upstream.reply(reply(['grüß', Buffer.from(' dich'), ' 🌍'], { framing, status: 201, headers: { 'x-a': 'b' } }))
      const response = await fetch(upstream.origin)
      expect(response.status).to.equal(201)
      expect(response.headers.get('x-a')).to.equal('b')
      expect(await response.text()).to.equal('grüß dich 🌍')
    })
  }

  it('keeps holds at their positions in the body', async () => {
    const slow = hold()
    upstream.reply(reply(['first', slow, 'second'], { framing: 'chunked' }))
    const response = await fetch(upstream.origin)
    await slow.reached
    slow.release()
    expect(await response.text()).to.equal('firstsecond')
  })

  it('sends JSON with the given content type', async () => {
    upstream.reply(json({ a: [1] }, { headers: { 'content-type': 'application/problem+json' } }))
    const response = await fetch(upstream.origin)
    expect(response.headers.get('content-type')).to.equal('application/problem+json')
    expect(await response.json()).to.deep.equal({ a: [1] })
  })

  it('can begin with an interim head and end with trailers', async () => {
    const interim = head(103, { link: '</style.css>' })
    upstream.reply([interim, ...reply(['body'], { framing: 'chunked', trailers: { 'x-checksum': 'abc' } })])
    const request = get(upstream.origin, { agent: false })
    const [information] = await once(request, 'information')
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect(information.statusCode).to.equal(103)
    expect(await text(response)).to.equal('body')
    expect(response.trailers).to.deep.equal({ 'x-checksum': 'abc' })
  })

  it('can repeat a header and have a wrong length', async () => {
    upstream.reply([head(200, { 'set-cookie': ['a=1', 'b=2'], 'content-length': '100' }), 'short', FIN])
    const response = await fetch(upstream.origin)
    expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2'])
    expect(await response.text().catch((error) => error.name)).to.equal('TypeError')
  })

  it('can be built from its parts', async () => {
    upstream.reply([head(200, { 'transfer-encoding': 'chunked' }), chunk('é'), chunk(Buffer.from('!')), lastChunk()])
    expect(await (await fetch(upstream.origin)).text()).to.equal('é!')
  })

  it('can be a page of HTML with any status', async () => {
    upstream.reply(html())
    upstream.reply(html({ status: 502 }))
    const [first, second] = [await fetch(upstream.origin), await fetch(upstream.origin)]
    expect([first.status, second.status]).to.deep.equal([200, 502])
    expect(first.headers.get('content-type')).to.match(/^text\/html/)
    expect(await first.text()).to.match(/^<!doctype html>/)
  })

  for (const encoding of ['gzip', 'deflate', 'br'] as const) {
    it(`can have a body in ${encoding}`, async () => {
      upstream.reply(encoded(encoding, ['grüß', Buffer.from(' dich')]))
      const reply = await fetch(upstream.origin)
      expect(reply.headers.get('content-encoding')).to.equal(encoding)
      expect(await reply.text()).to.equal('grüß dich')
    })
  }

  it('can state the time to wait in every form of retry-after', async () => {
    const seen: (string | null)[] = []
    for (const form of RETRY_AFTER_FORMS) {
      upstream.reply(json({}, { status: 429, headers: retryAfter(7, form) }))
      const { headers } = await fetch(upstream.origin)
      seen.push(headers.get('retry-after') ?? headers.get('retry-after-ms'))
    }
    const [seconds, date, milliseconds] = seen
    expect([seconds, milliseconds]).to.deep.equal(['7', '7000'])
    expect(Date.parse(date!)).to.be.closeTo(Date.now() + 7000, 5000)
  })
})
