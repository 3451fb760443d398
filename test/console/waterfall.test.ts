import { expect } from 'chai'
import { spansOf, type TimedCall } from '../../console/src/pages/requests/spans.ts'
import { duration } from '../../console/src/ui/time-words.ts'

const attempt = (result: string, ms: number) => ({ namespace: 'openai', model: 'gpt-5.5', provider: 'x', result, ms })
const call = (total: number, parts: Partial<TimedCall>): TimedCall => ({
  links: [],
  attempts: [],
  ms: { total, first_byte: null, overhead: 0 },
  ...parts,
})
const gateway = (from: number, to: number): unknown[] => ['Gateway', 'reading, validating, waiting', from, to]

const auth = { name: 'auth', ms: 0.04 }
const audit = { name: 'audit', ms: 4 }

describe('the waterfall of a call', () => {
  for (const [what, row, bars] of [
    [
      'shows links, the gateway and attempts in their order',
      call(100, { links: [auth, audit], attempts: [attempt('upstream_timeout', 30), attempt('ok', 60)] }),
      [
        ['auth', 'link', 0, 0.04],
        ['audit', 'link', 0.04, 4.04],
        gateway(4.04, 10),
        ['openai/gpt-5.5', 'attempt 1, upstream_timeout', 10, 40],
        ['openai/gpt-5.5', 'attempt 2, ok', 40, 100],
      ],
    ],
    [
      'ends with the gateway after a link refused the call',
      call(1, { links: [auth] }),
      [['auth', 'link', 0, 0.04], gateway(0.04, 1)],
    ],
    [
      'shows a call without recorded links',
      call(10, { attempts: [attempt('ok', 8)] }),
      [gateway(0, 2), ['openai/gpt-5.5', 'attempt 1, ok', 2, 10]],
    ],
    [
      'does not exceed the total if a link ran during the stream',
      call(10, { links: [audit], attempts: [attempt('ok', 9.5)] }),
      [['audit', 'link', 0, 4], gateway(4, 4), ['openai/gpt-5.5', 'attempt 1, ok', 0.5, 10]],
    ],
    // C8
    [
      'shows each attempt at its own time, the pause between two, and the status of a refusal',
      call(100, {
        links: [audit],
        attempts: [
          { ...attempt('upstream_error', 20), start: 10, status: 503 },
          { ...attempt('ok', 30), start: 60 },
        ],
      }),
      [
        ['audit', 'link', 0, 4],
        gateway(4, 10),
        ['openai/gpt-5.5', 'attempt 1, upstream_error, status 503', 10, 30],
        ['Pause', 'before the next attempt', 30, 60],
        ['openai/gpt-5.5', 'attempt 2, ok', 60, 90],
      ],
    ],
    ['shows a call of zero duration', call(0, { links: [auth] }), [['auth', 'link', 0, 0], gateway(0, 0)]],
  ] as const)
    it(what, () => {
      expect(spansOf(row).map(({ name, detail, from, to }) => [name, detail, from, to])).to.deep.equal(bars)
    })

  for (const [ms, words] of [
    [0, '0 ms'],
    [0.001, '1 µs'],
    [0.0426, '43 µs'],
    [0.1, '0.1 ms'],
    [0.44, '0.4 ms'],
    [12.4, '12 ms'],
    [3210, '3.2 s'],
  ] as const)
    it(`formats ${ms} ms as ${words}`, () => {
      expect(duration(ms)).to.equal(words)
    })
})
