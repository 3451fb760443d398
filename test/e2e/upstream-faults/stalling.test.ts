import { openai } from '../sdk/openai-dialect.ts'
import { DIALECTS, type Stage, startStage } from '../sdk/stage.ts'
import { SILENCE, STALLS, STREAM_PAUSE, STREAM_TRICKLE } from './faults/stalling.ts'
import { EVERY_WAY, expectBrokenStream, expectStatus } from './witness.ts'

describe('an upstream that keeps a client waiting', () => {
  /** Tests on a stage of their own, whose upstreams may take so long. */
  function within(
    timeouts: Readonly<Record<string, string>>,
    times: { readonly heartbeat?: number },
    tests: (on: () => Stage) => void,
  ) {
    describe(`within the limits ${JSON.stringify({ ...timeouts, ...times })}`, () => {
      let stage: Stage
      before(async () => {
        stage = await startStage({ namespace: { timeouts }, times })
      })
      after(() => stage?.stop())
      tests(() => stage)
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
      it(`in the middle of a stream, with heartbeats until it is given up: ${dialect.name}`, () =>
        expectBrokenStream(on(), { dialect }, { ...STREAM_PAUSE, heard: /Once upon.*\n\n: keep-alive\n\n/s }))
    }

    it('before its first byte, with heartbeats until it is given up', () =>
      expectBrokenStream(on(), { dialect: openai }, { ...SILENCE, heard: /^(?:: keep-alive\n\n)+$/ }))
  })

  within({ total: '250ms' }, {}, (on) => {
    for (const dialect of DIALECTS) {
      it(`because a stream never comes to an end: ${dialect.name}`, () =>
        expectBrokenStream(on(), { dialect }, { ...STREAM_TRICKLE, heard: /Once upon.*Once upon/s }))
    }
  })
})
