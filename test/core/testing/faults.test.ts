import { expect } from 'chai'
import {
  encoded,
  html,
  json,
  RETRY_AFTER_FORMS,
  retryAfter,
  type ScriptedUpstream,
  scriptedUpstream,
} from 'unified-model-gateway/plugin/testing'

describe('A scripted fault', () => {
  let upstream: ScriptedUpstream

  beforeEach(async () => {
    upstream = await scriptedUpstream()
  })

  afterEach(() => upstream?.close())

  it('is a page of HTML, with any status', async () => {
    upstream.reply(html())
    upstream.reply(html({ status: 502 }))
    const [first, second] = [await fetch(upstream.origin), await fetch(upstream.origin)]
    expect([first.status, second.status]).to.deep.equal([200, 502])
    expect(first.headers.get('content-type')).to.match(/^text\/html/)
    expect(await first.text()).to.match(/^<!doctype html>/)
  })

  for (const encoding of ['gzip', 'deflate', 'br'] as const) {
    it(`is a body in ${encoding}`, async () => {
      upstream.reply(encoded(encoding, ['grüß', Buffer.from(' dich')]))
      const reply = await fetch(upstream.origin)
      expect(reply.headers.get('content-encoding')).to.equal(encoding)
      expect(await reply.text()).to.equal('grüß dich')
    })
  }

  it('asks for patience in each form that clients know', async () => {
    const before = Date.now()
    const seen: (string | null)[] = []
    for (const form of RETRY_AFTER_FORMS) {
      upstream.reply(json({}, { status: 429, headers: retryAfter(7, form) }))
      const { headers } = await fetch(upstream.origin)
      seen.push(headers.get('retry-after') ?? headers.get('retry-after-ms'))
    }
    const [seconds, date, milliseconds] = seen
    expect([seconds, milliseconds]).to.deep.equal(['7', '7000'])
    // A date has no fraction of its second.
    expect(Date.parse(date!)).to.be.within(before + 6000, Date.now() + 7000)
  })
})
