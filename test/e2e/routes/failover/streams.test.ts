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
    name: `says ${name}`,
    script: (dialect: Dialect) => sse([...begun(dialect), event]),
    failure,
  }))

/** Faults of a stream that has not said a word yet. */
const EARLY = [...cutsAfter(announcement), ...badEventsAfter(announcement), emptyAfter(announcement)]

/** Of one that has spoken. */
const LATE = [...CUTS, ...badEventsAfter(beginning).filter((fault) => !startsCooldown(fault) && !fault.name.includes('MB'))]

const NUMBERS = numbersFor([...EARLY, ...SUDDEN])

/** Defines tests with their own gateway. */
function withPair(name: string, options: FailoverOptions, tests: (on: () => FailoverFixture) => void): void {
  describe(name, () => {
    let fixture: FailoverFixture
    before(async () => {
      fixture = await startFailover({ namespace: { breaker: false }, ...options })
    })
    after(() => fixture?.stop())
    tests(() => fixture)
  })
}

/** What the client had before is all it has, but for one error frame: the second is not asked. */
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

withPair('a stream of the first of two targets', { models: NUMBERS.models }, (on) => {
  for (const fault of EARLY) {
    for (const way of STREAMED) {
      it(`that ${fault.name} before its first word is replaced by one of the second: ${way.name}`, () =>
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
      it(`that ${fault.name} after its first words ends by an error frame: ${dialect.name}`, () =>
        expectBroken(on(), dialect, { ...fault, heard: /Once upon/ }))
    }
  }

  it('that goes on without a word is sent on once it is too long to be held', async () => {
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
  withPair(`a target that is past its ${limit} timeout`, { firstNamespace: { timeouts: { [limit]: '40ms' } } }, (on) => {
    for (const fault of STALLS[limit]!) {
      for (const way of STREAMED) {
        it(`for it ${fault.name}, is given up for the second: ${way.name}`, () => expectServedBySecond(on(), way, fault))
      }
    }
  })
}

withPair('a call whose time is up', { route: { timeouts: { total: '150ms' } } }, (on) => {
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

withPair('a stream whose client has had a heartbeat already', PATIENT, (on) => {
  for (const way of STREAMED) {
    it(`is served by the second target, with nothing but heartbeats before: ${way.name}`, async () => {
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
    it(`ends by an error frame where no target serves it: ${dialect.name}`, async () => {
      const { gateway, first, second } = on()
      first.on(() => SILENCE.script(dialect))
      second.on(() => sse(['data: nonsense\n\n']))
      const reply = await post({ gateway }, { dialect, stream: true, namespace: curated(dialect) })
      const text = await reply.text()
      expect(reply.complete).to.equal(false)
      expect(text).to.match(new RegExp(`^(?:: keep-alive\\n\\n)+data: \\{"error".*"code":"${INVALID.code}"\\}\\}\\n\\n$`))
    })

    it(`ends by an error frame once it has begun, with heartbeats until it is given up: ${dialect.name}`, () =>
      expectBroken(on(), dialect, { ...STREAM_PAUSE, heard: /Once upon.*\n\n: keep-alive\n\n/s }))
  }
})
