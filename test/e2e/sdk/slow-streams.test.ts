import { expect } from 'chai'
import { chunk, FIN, head, hold, type Step, sse } from '../../../core/testing/kit.ts'
import { ask, type Dialect, type Said, splitAfter } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'

const TEXT: Said = { text: ['Hel', 'lo ', '€ 😀'] }

describe('A stream with a silent upstream', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ times: { heartbeat: 20 } })
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    it(`is kept alive by comments, which change nothing (${dialect.name})`, async () => {
      const silence = hold()
      const [begin, rest] = splitAfter(dialect.events(TEXT), 'Hel')
      fixture.upstream(dialect).on(() => sse([...begin, silence, ...rest]))
      const reply = await fixture.post(ask(dialect, { stream: true }))
      await reply.until(/"Hel".*\n\n: /s)
      silence.release()
      const text = await reply.text()
      expect(text).to.match(/^(?:(?:data: .+|: .+)\n\n)+$/)
      expect(text).to.match(/"Hel".*\n\n: .*"lo ".*"€ 😀".*\n\ndata: \[DONE\]\n\n$/s)
    })

    it(`begins in the SDK before the upstream has sent anything, and reads as usual (${dialect.name})`, async () => {
      const silence = hold()
      fixture.upstream(dialect).on(() => [silence, ...sse(dialect.events(TEXT))])
      const stream = await fixture.gateway.openai().chat.completions.create({ ...ask(dialect), stream: true })
      silence.release()
      const text = (await Array.fromAsync(stream)).map((piece) => piece.choices[0]?.delta.content ?? '')
      expect(text.join('')).to.equal('Hello € 😀')
    })
  }
})

describe('A stream whose client does not read', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture({ times: { writeStall: 50 } })
  })

  after(() => fixture?.stop())

  for (const dialect of DIALECTS) {
    it(`pauses its upstream, and is closed after a timeout (${dialect.name})`, async () => {
      const upstream = fixture.upstream(dialect)
      let sent = 0
      upstream.on(() => endless(dialect, () => sent++))
      const reply = await fixture.post(ask(dialect, { stream: true }))
      await upstream.requests.at(-1)!.closed
      // What the sockets' own buffers hold has left; the rest would have filled the gateway's memory.
      expect(sent > 0 && sent < ENDLESS / 2, `${sent} events were sent`).to.equal(true)
      reply.leave()
    })
  }
})

/** Events of 64 KiB, far more than the buffers of four sockets hold. */
const ENDLESS = 1024

function* endless(dialect: Dialect, onSend: () => void): Generator<Step> {
  const [begin] = splitAfter(dialect.events({ text: ['x'.repeat(64 * 1024)] }), 'xxx')
  yield head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })
  for (const event of begin) yield chunk(event)
  for (let count = 1; count < ENDLESS; count++) {
    onSend()
    yield chunk(begin.at(-1)!)
  }
  yield FIN
}
