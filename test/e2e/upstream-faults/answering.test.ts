import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { EVERY_WAY, expectStatus, post } from './assertions.ts'
import { BAD_BEGINNINGS } from './faults/answering.ts'

describe('An upstream with an invalid reply head', () => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  for (const fault of BAD_BEGINNINGS) {
    for (const asked of EVERY_WAY) it(`${fault.name}: ${asked.name}`, () => expectStatus(fixture, asked, fault))
  }
})

describe('An upstream that replies before it has read the request', () => {
  let early: ScriptedUpstream
  let fixture: Fixture
  before(async () => {
    early = await scriptedUpstream({ readBody: false })
    fixture = await startFixture({
      others: { early: { provider: 'openai-compatible', config: { baseUrl: `${early.origin}/v1` } } },
    })
  })
  after(async () => {
    await fixture?.stop()
    await early?.close()
  })

  for (const stream of [false, true]) {
    for (const status of [200, 503]) {
      it(`has its reply ${status} used and its connection closed: ${stream ? 'streamed' : 'whole'}`, async () => {
        const said = { text: ['Hello'] }
        const asked = early.reply(
          status !== 200
            ? json(openai.error(status, 'no'), { status })
            : stream
              ? sse(openai.events(said))
              : json(openai.whole(said)),
        )
        const messages = [{ role: 'user', content: 'x'.repeat(8 << 20) }]
        const reply = await post(fixture, { dialect: openai, stream, namespace: 'early' }, { messages })
        expect(reply.status).to.equal(status)
        await reply.bytes()
        expect(reply.complete).to.equal(true)
        await (await asked).closed
      })
    }
  }
})
