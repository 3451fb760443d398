import { expect } from 'chai'
import { APIError } from 'openai'
import { chunk, FIN, head, RST, reply, type Step } from '../../../core/testing/kit.ts'
import { edgesOf, eventsIn, isUsageIn, OPENAI_STREAMS, passedOn } from '../../fixtures/openai-streams.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { ask } from '../sdk/dialect.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { post } from './assertions.ts'

const STREAM = { 'content-type': 'text/event-stream' }

/** A stream that breaks off after these bytes. */
const cutStream = (bytes: Buffer, ending: Step): Step[] => [
  head(200, { ...STREAM, 'transfer-encoding': 'chunked' }),
  chunk(bytes),
  ending,
]

/** What a client that asked for the usage gets at the end of a stream without one. */
const USAGE_ADDED = /^data: \{.*"choices":\[\],"usage":\{"prompt_tokens":\d+,"completion_tokens":\d+,"total_tokens":\d+\}\}\n\n$/

const ENDINGS = { closes: FIN, resets: RST } as const

describe('An upstream stream', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  /** Whether the official SDK takes it for a success. */
  async function satisfiesSdk(request: object): Promise<boolean> {
    const client = fixture.gateway.openai().withOptions({ maxRetries: 0 })
    try {
      for await (const _ of await client.chat.completions.create({ ...ask(openai), ...request, stream: true }));
      return true
    } catch (error) {
      expect(error).to.be.instanceOf(APIError)
      return false
    }
  }

  for (const { name, bytes, choices } of OPENAI_STREAMS) {
    it(`reaches the client byte for byte: ${name}`, async () => {
      fixture.upstream(openai).on(() => reply([bytes], { headers: STREAM }))
      const events = eventsIn(bytes)
      for (const include_usage of [false, true]) {
        const answer = await post(fixture, { dialect: openai, stream: true }, { n: choices, stream_options: { include_usage } })
        const text = await answer.text()
        const sent = passedOn(events, include_usage)
        expect(text.slice(0, sent.length)).to.equal(sent)
        const added = include_usage && !isUsageIn(events) ? USAGE_ADDED : /^$/
        expect(text.slice(sent.length).replace(/data: \[DONE\]\n\n$/, '')).to.match(added)
      }
    })
  }

  for (const [how, ending] of Object.entries(ENDINGS)) {
    for (const { name, bytes, choices } of OPENAI_STREAMS) {
      const edges = edgesOf(bytes).slice(0, -1)
      if (edges.length === 0) continue

      it(`is an error if the upstream ${how} between its events: ${name}`, async () => {
        for (const at of edges) {
          const sent = bytes.subarray(0, at)
          fixture.upstream(openai).on(() => cutStream(sent, ending))
          const text = await (await post(fixture, { dialect: openai, stream: true }, { n: choices })).text()
          expect(text)
            .to.match(/\{"error":\{.*"code":"upstream_disconnected"\}\}\s*$/)
            .and.not.contain('data: [DONE]')
          expect(await satisfiesSdk({ n: choices })).to.equal(false)
        }
      })
    }

    it(`is an error if the upstream ${how} between its events, translated`, async () => {
      const events = anthropic.events({ thinking: ['Hm'], text: ['Hello', ' there'] })
      for (let count = 1; count < events.length; count++) {
        fixture.upstream(anthropic).on(() => cutStream(Buffer.from(events.slice(0, count).join('')), ending))
        const text = await (await post(fixture, { dialect: anthropic, stream: true })).text()
        expect(text)
          .to.match(/\{"error":\{.*"code":"upstream_disconnected"\}\}\s*$/)
          .and.not.contain('data: [DONE]')
        expect(await satisfiesSdk(ask(anthropic))).to.equal(false)
      }
    })
  }
})
