import { expect } from 'chai'
import {
  BOM,
  comment,
  hold,
  pieces,
  type Script,
  type ScriptedUpstream,
  scriptedUpstream,
  sse,
  withLineEnds,
} from '../../../core/testing/kit.ts'
import type { RawReply } from '../../support/raw-http.ts'
import { ask, type Said, splitAfter } from './dialect.ts'
import { DIALECTS, type Fixture, startFixture } from './fixture.ts'
import { openai } from './openai-dialect.ts'

const TEXT: Said = { text: ['Hel', 'lo ', '€ 😀'] }

/** Other ways to write the same stream that the standard allows (WHATWG HTML §9.2.6), and some that are merely common. */
const SPELLINGS: readonly (readonly [what: string, spell: (events: readonly string[]) => readonly string[]])[] = [
  ['CRLF', (events) => events.map((event) => withLineEnds(event, '\r\n'))],
  ['CR', (events) => events.map((event) => withLineEnds(event, '\r'))],
  ['no space after the colon', (events) => events.map((event) => event.replaceAll(/^(data|event): /gm, '$1:'))],
  ['a byte order mark', (events) => [BOM, ...events]],
  ['comments', (events) => events.flatMap((event) => [comment('OPENROUTER PROCESSING'), ':\n', event])],
  ['ids and retry times', (events) => events.map((event, index) => `id: ${index}\nretry: 1000\n${event}`)],
  ['empty events', (events) => events.flatMap((event) => ['event: ping\n\n', 'data:\n\n', 'data: \n\n', event])],
  ['data of several lines', (events) => events.map(overSeveralLines)],
  ['data of several lines that end in CRLF', (events) => events.map((event) => withLineEnds(overSeveralLines(event), '\r\n'))],
]

function overSeveralLines(event: string): string {
  const [, start = '', data = ''] = /^(.*)data: (\{.*\})\n\n$/s.exec(event) ?? []
  if (data === '') return event
  const lines = JSON.stringify(JSON.parse(data), null, 2).split('\n')
  return `${start}${lines.map((line) => `data: ${line}\n`).join('')}\n`
}

describe('A stream on the wire', () => {
  let fixture: Fixture
  let quirky: ScriptedUpstream

  before(async () => {
    quirky = await scriptedUpstream()
    const config = { preset: 'mistral', baseUrl: `${quirky.origin}/v1` }
    fixture = await startFixture({ others: { quirky: { provider: 'openai-compatible', config } } })
  })

  after(async () => {
    await fixture?.stop()
    await quirky?.close()
  })

  for (const dialect of DIALECTS) {
    describe(`(${dialect.name})`, () => {
      function open(script: Script, headers?: Readonly<Record<string, string>>): Promise<RawReply> {
        fixture.upstream(dialect).on(() => script)
        return fixture.post(ask(dialect, { stream: true }), headers)
      }

      /** What each event carries; throws for anything that is neither an event of one line nor the end marker. */
      async function dataOf(reply: RawReply): Promise<unknown[]> {
        const events = (await reply.text()).split('\n\n')
        expect(events.pop()).to.equal('')
        expect(events.pop()).to.equal('data: [DONE]')
        return events.map((event) => ({ ...JSON.parse(event.replace(/^data: /, '')), created: 0 }))
      }

      it('has headers that keep proxies from buffering it', async () => {
        const { status, headers } = await open(sse(dialect.events(TEXT)))
        expect(status).to.equal(200)
        expect(headers).to.include({
          'content-type': 'text/event-stream; charset=utf-8',
          'cache-control': 'no-store, no-transform',
          'x-accel-buffering': 'no',
        })
        expect(headers).to.have.all.keys(
          ...['cache-control', 'connection', 'content-type', 'date', 'transfer-encoding', 'x-accel-buffering'],
          ...['x-content-type-options', 'x-request-id'],
        )
      })

      it('ends immediately after the end marker, even if the upstream keeps the connection open', async () => {
        const never = hold()
        const reply = await open(sse([...dialect.events(TEXT), never]))
        expect(await reply.text()).to.match(/\n\ndata: \[DONE\]\n\n$/)
        expect(reply.complete).to.equal(true)
      })

      it('is an uncompressed event stream for every accept header', async () => {
        const { headers, ...reply } = await open(sse(dialect.events(TEXT)), {
          accept: 'application/json',
          'accept-encoding': 'gzip, br',
        })
        expect(headers).to.not.have.property('content-encoding')
        expect(headers['content-type']).to.include('text/event-stream')
        expect(reply.status).to.equal(200)
      })

      for (const [what, spell] of SPELLINGS) {
        it(`is the same for an upstream that writes ${what}, for every split`, async () => {
          const plain = await dataOf(await open(sse(dialect.events(TEXT))))
          const script = sse(spell(dialect.events(TEXT)))
          for (const at of [1, 1000, Infinity]) expect(await dataOf(await open(pieces(script, at)))).to.deep.equal(plain)
        })
      }
    })
  }

  it('has the upstream’s bytes if it is passed through: unknown fields, spaces, escapes, large numbers', async () => {
    const odd =
      'data: {"id":"x",  "choices":[{"index":0,"delta":{"content":"\\u0048","x_new":[1.0e-7]}}],"big":12345678901234567890,"obfuscation":"ab"}\n\n'
    const [begin, rest] = splitAfter(openai.events(TEXT), 'Hel')
    fixture.upstream(openai).on(() => sse([...begin, odd, ...rest]))
    const reply = await fixture.post(ask(openai, { stream: true, stream_options: { include_usage: true } }))
    expect(await reply.text()).to.equal([...begin, odd, ...rest].join(''))
  })

  it('ends as early if a preset translates it', async () => {
    quirky.on(() => sse([...openai.events(TEXT), hold()]))
    const reply = await fixture.post({ ...ask(openai, { stream: true }), model: 'quirky/gpt-x' })
    expect(await reply.text()).to.match(/\n\ndata: \[DONE\]\n\n$/)
    expect(reply.complete).to.equal(true)
  })

  it('ends with the end marker even if the upstream omits it', async () => {
    fixture.upstream(openai).on(() => sse(openai.events(TEXT).slice(0, -1)))
    const reply = await fixture.post(ask(openai, { stream: true }))
    expect(await reply.text()).to.match(/\n\ndata: \[DONE\]\n\n$/)
    expect(reply.complete).to.equal(true)
  })
})
