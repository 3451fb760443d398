import { expect } from 'chai'
import { hold, sse } from '../../../../core/testing/kit.ts'
import type { Dialect } from '../../sdk/dialect.ts'
import { DIALECTS } from '../../sdk/fixture.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { expectBrokenStream, expectStatus, type Fault, post } from '../../upstream-faults/assertions.ts'
import { INVALID } from '../../upstream-faults/failures.ts'
import {
  announcement,
  BAD_EVENTS,
  type Beginning,
  beginning,
  CUTS,
  cutsAfter,
  emptyAfter,
  SUDDEN,
} from '../../upstream-faults/faults/broken-streams.ts'
import { SILENCE, STALLS, STREAM_PAUSE } from '../../upstream-faults/faults/stalling.ts'
import { cleanReply, EVERY_WAY, expectServedBySecond, hitsSince } from './assertions.ts'
import { curated, type FailoverFixture, type FailoverOptions, otherThan, startFailover } from './fixture.ts'
import { numbersFor, startsCooldown } from './model-numbers.ts'

const STREAMED = EVERY_WAY.filter(({ stream }) => stream)

const badEventsAfter = (begun: Beginning): readonly Fault[] =>
  BAD_EVENTS.map(({ name, event, failure }) => ({
    name: `sends ${name}`,
    script: (dialect: Dialect) => sse([...begun(dialect), event]),
    failure,
  }))

/** Faults of a stream before its first content. */
const EARLY = [...cutsAfter(announcement), ...badEventsAfter(announcement), emptyAfter(announcement)]

/** Faults of a stream after its first content. */
const LATE = [...CUTS, ...badEventsAfter(beginning).filter((fault) => !startsCooldown(fault) && !fault.name.includes('MB'))]

const NUMBERS = numbersFor([...EARLY, ...SUDDEN])

/** Defines tests with their own gateway. */
function withFailover(name: string, options: FailoverOptions, tests: (on: () => FailoverFixture) => void): void {
  describe(name, () => {
    let fixture: FailoverFixture
    before(async () => {
      fixture = await startFailover({ namespace: { breaker: false }, ...options })
    })
    after(() => fixture?.stop())
    tests(() => fixture)
  })
}

/** Expects one error frame after the first target's events, and no request to the second. */
async function expectBroken(
  fixture: FailoverFixture,
  dialect: Dialect,
  fault: Fault & { readonly heard: RegExp },
): Promise<void> {
  const { gateway, first, second } = fixture
  const secondAsked = hitsSince(second)
  await expectBrokenStream({ gateway, upstream: () => first }, { dialect, namespace: curated(dialect) }, fault)
  expect(secondAsked()).to.deep.equal([0])
}

withFailover('a stream of the first of two targets', { models: NUMBERS.models }, (on) => {
  for (const fault of EARLY) {
    for (const way of STREAMED) {
      it(`that ${fault.name} before its first content is replaced by the second target's: ${way.name}`, () =>
        expectServedBySecond(on(), way, { ...fault, number: NUMBERS.of(fault, true) }))
    }
  }

  for (const fault of SUDDEN) {
    for (const way of STREAMED) {
      it(`that ${fault.name} together with its first words is replaced by one of the second: ${way.name}`, () =>
        expectServedBySecond(on(), way, { ...fault, number: NUMBERS.of(fault, true) }))
    }
  }

  for (const fault of LATE) {
    for (const dialect of DIALECTS) {
      it(`that ${fault.name} after its first content ends with an error frame: ${dialect.name}`, () =>
        expectBroken(on(), dialect, { ...fault, heard: /Once upon/ }))
    }
  }

  it('that continues without content is sent when it is too long to be held', async () => {
    const { gateway, first } = on()
    const events = [...Array<string>(1000).fill(openai.events({})[0]!), ...openai.events({ text: ['Hello'] })]
    first.on(() => sse(events))
    const reply = await post({ gateway }, { dialect: openai, stream: true, namespace: curated(openai) })
    // The usage was not asked for.
    expect((await reply.text()).split('data: ')).to.have.length(events.length)
    expect(reply.headers).to.include({ 'x-umg-attempts': '1', 'x-umg-namespace': 'open-first' })
  })
})

for (const limit of ['firstByte', 'idle']) {
  withFailover(`a target that is past its ${limit} timeout`, { firstNamespace: { timeouts: { [limit]: '40ms' } } }, (on) => {
    for (const fault of STALLS[limit]!) {
      for (const way of STREAMED) {
        it(`because it ${fault.name}, is replaced by the second target's: ${way.name}`, () =>
          expectServedBySecond(on(), way, fault))
      }
    }
  })
}

withFailover('a call whose time is up', { route: { timeouts: { total: '150ms' } } }, (on) => {
  for (const fault of STALLS.total!) {
    it(`because the first target ${fault.name}, ends there`, async () => {
      const { gateway, first, second } = on()
      const secondAsked = hitsSince(second)
      const asked = { dialect: openai, stream: true, namespace: curated(openai) }
      await expectStatus({ gateway, upstream: () => first }, asked, fault)
      expect(secondAsked()).to.deep.equal([0])
    })
  }
})

/** Heartbeats come before a target is given up. */
const PATIENT = { times: { heartbeat: 20 }, firstNamespace: { breaker: false, timeouts: { firstByte: '150ms', idle: '150ms' } } }

withFailover('a stream whose client has had a heartbeat already', PATIENT, (on) => {
  for (const way of STREAMED) {
    it(`is served by the second target after heartbeats only: ${way.name}`, async () => {
      const { gateway, first, second } = on()
      const other = otherThan(way.dialect)
      first.on(() => [hold()])
      second.on(() => cleanReply(other, true))
      const reply = await post({ gateway }, { ...way, namespace: curated(way.dialect) })
      const text = await reply.text()
      expect(reply.status).to.equal(200)
      expect(reply.complete).to.equal(true)
      expect(text)
        .to.match(/^(?:: keep-alive\n\n)+data: \{.*\n\ndata: \[DONE\]\n\n$/s)
        .and.not.contain('error')
      expect(text).to.contain(other.replyId)
    })
  }

  for (const dialect of DIALECTS) {
    it(`ends with an error frame if no target serves it: ${dialect.name}`, async () => {
      const { gateway, first, second } = on()
      first.on(() => SILENCE.script(dialect))
      second.on(() => sse(['data: nonsense\n\n']))
      const reply = await post({ gateway }, { dialect, stream: true, namespace: curated(dialect) })
      const text = await reply.text()
      expect(reply.complete).to.equal(false)
      expect(text).to.match(new RegExp(`^(?:: keep-alive\\n\\n)+data: \\{"error".*"code":"${INVALID.code}"\\}\\}\\n\\n$`))
    })

    it(`ends with an error frame after its begin, with heartbeats until the timeout: ${dialect.name}`, () =>
      expectBroken(on(), dialect, { ...STREAM_PAUSE, heard: /Once upon.*\n\n: keep-alive\n\n/s }))
  }
})
