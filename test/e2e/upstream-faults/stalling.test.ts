import { DIALECTS, type Fixture, startFixture } from '../sdk/fixture.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { EVERY_WAY, expectBrokenStream, expectStatus } from './assertions.ts'
import { SILENCE, STALLS, STREAM_PAUSE, STREAM_TRICKLE } from './faults/stalling.ts'

describe('An upstream that stalls', () => {
  /** Defines tests with their own gateway and timeouts. */
  function within(
    timeouts: Readonly<Record<string, string>>,
    times: { readonly heartbeat?: number },
    tests: (on: () => Fixture) => void,
  ) {
    describe(`within the limits ${JSON.stringify({ ...timeouts, ...times })}`, () => {
      let fixture: Fixture
      before(async () => {
        fixture = await startFixture({ namespace: { timeouts }, times })
      })
      after(() => fixture?.stop())
      tests(() => fixture)
    })
  }

  for (const [limit, faults] of Object.entries(STALLS)) {
    within({ [limit]: '40ms' }, {}, (on) => {
      for (const fault of faults) {
        it(`because it ${fault.name}`, () => expectStatus(on(), { dialect: openai, stream: true }, fault))
      }
    })
  }

  within({ firstByte: '40ms' }, {}, (on) => {
    for (const asked of EVERY_WAY) it(`before its first byte: ${asked.name}`, () => expectStatus(on(), asked, SILENCE))
  })

  within({ idle: '250ms', firstByte: '250ms' }, { heartbeat: 20 }, (on) => {
    for (const dialect of DIALECTS) {
      it(`in the middle of a stream causes heartbeats until the timeout: ${dialect.name}`, () =>
        expectBrokenStream(on(), { dialect }, { ...STREAM_PAUSE, heard: /Once upon.*\n\n: keep-alive\n\n/s }))
    }

    it('before its first byte causes heartbeats until the timeout', () =>
      expectBrokenStream(on(), { dialect: openai }, { ...SILENCE, heard: /^(?:: keep-alive\n\n)+$/ }))
  })

  within({ total: '250ms' }, {}, (on) => {
    for (const dialect of DIALECTS) {
      it(`because its stream never ends: ${dialect.name}`, () =>
        expectBrokenStream(on(), { dialect }, { ...STREAM_TRICKLE, heard: /Once upon.*Once upon/s }))
    }
  })
})
