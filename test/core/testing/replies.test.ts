import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import {
  chunk,
  FIN,
  type Framing,
  head,
  hold,
  json,
  lastChunk,
  reply,
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
    it(`is read whole by an HTTP client when it is framed by ${framing}`, async () => {
      upstream.reply(reply(['grüß', Buffer.from(' dich'), ' 🌍'], { framing, status: 201, headers: { 'x-a': 'b' } }))
      const response = await fetch(upstream.origin)
      expect(response.status).to.equal(201)
      expect(response.headers.get('x-a')).to.equal('b')
      expect(await response.text()).to.equal('grüß dich 🌍')
    })
  }

  it('keeps holds where they stand in the body', async () => {
    const slow = hold()
    upstream.reply(reply(['first', slow, 'second'], { framing: 'chunked' }))
    const response = await fetch(upstream.origin)
    await slow.reached
    slow.release()
    expect(await response.text()).to.equal('firstsecond')
  })

  it('carries JSON under the content type it is given', async () => {
    upstream.reply(json({ a: [1] }, { headers: { 'content-type': 'application/problem+json' } }))
    const response = await fetch(upstream.origin)
    expect(response.headers.get('content-type')).to.equal('application/problem+json')
    expect(await response.json()).to.deep.equal({ a: [1] })
  })

  it('can open with an interim head and close with trailers', async () => {
    const interim = head(103, { link: '</style.css>' })
    upstream.reply([interim, ...reply(['body'], { framing: 'chunked', trailers: { 'x-checksum': 'abc' } })])
    const request = get(upstream.origin, { agent: false })
    const [information] = await once(request, 'information')
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    expect(information.statusCode).to.equal(103)
    expect(await text(response)).to.equal('body')
    expect(response.trailers).to.deep.equal({ 'x-checksum': 'abc' })
  })

  it('can repeat a header and lie about its length', async () => {
    upstream.reply([head(200, { 'set-cookie': ['a=1', 'b=2'], 'content-length': '100' }), 'short', FIN])
    const response = await fetch(upstream.origin)
    expect(response.headers.getSetCookie()).to.deep.equal(['a=1', 'b=2'])
    expect(await response.text().catch((error) => error.name)).to.equal('TypeError')
  })

  it('can be built from its parts', async () => {
    upstream.reply([head(200, { 'transfer-encoding': 'chunked' }), chunk('é'), chunk(Buffer.from('!')), lastChunk()])
    expect(await (await fetch(upstream.origin)).text()).to.equal('é!')
  })
})
