import { expect } from 'chai'
import { CHAT } from '../../bench/apis.ts'
import type { Measurement } from '../../bench/measure.ts'
import { type Allowance, differencesOf, intervalOf } from '../../bench/regressions.ts'
import { differenceTable, failureTable, warnOfNoise } from '../../bench/report.ts'
import type { Scenario } from '../../bench/scenarios.ts'

const SMALL: Scenario = { name: 'small', unit: 'request', api: CHAT, messages: [], connections: 1, seconds: 1 }
const LONG: Scenario = { ...SMALL, name: 'long-text' }

/** A figure for each round. */
type Figures = readonly number[]

const roundsOf = (scenario: Scenario, subject: string, cpu: Figures, p99: Figures = cpu): Measurement[] =>
  cpu.map((one, round) => ({ scenario, subject, cpu: one, p50: 10, p99: p99[round]!, firstByte: 5 }))

const inAll = (value: number): Figures => Array.from({ length: 12 }, () => value)

/** Of CPU alone. */
function compare(old: Figures, next: Figures, again: Figures, scenario = SMALL, allowances: readonly Allowance[] = []) {
  const measurements = [
    ...roundsOf(scenario, 'old', old),
    ...roundsOf(scenario, 'new', next),
    ...roundsOf(scenario, 'old-again', again),
  ]
  return differencesOf(measurements, [scenario], allowances)[0]!
}

describe('the comparison of two versions', () => {
  describe('the interval of the old version against itself', () => {
    it('is a point if it never differs', () => {
      expect(intervalOf(inAll(1))).to.deep.equal({ lowest: 1, highest: 1 })
    })

    it('is symmetric: a ratio and its inverse count alike', () => {
      const interval = { lowest: 1 / 1.25, highest: 1.25 }
      expect(intervalOf(inAll(1.25))).to.deep.equal(interval)
      expect(intervalOf(inAll(0.8))).to.deep.equal(interval)
    })

    it('of twelve rounds is from the second lowest to the second highest: one busy round does not widen it', () => {
      expect(intervalOf([...inAll(1).slice(2), 1.2, 9]).highest).to.equal(1.2)
      expect(intervalOf([0.1, 0.5, ...inAll(1).slice(2)]).highest).to.equal(2)
    })

    // The ranks of the tables of the binomial distribution, at 99 %.
    for (const [rounds, rank] of [
      [8, 1],
      [12, 2],
      [24, 6],
      [100, 37],
    ] as const) {
      it(`of ${rounds} rounds ends ${rank} from the highest`, () => {
        const ratios = Array.from({ length: rounds }, (_, round) => 10 + round)
        expect(intervalOf(ratios).highest).to.equal(10 + rounds - rank)
      })
    }

    it('is unknown for fewer than eight rounds', () => {
      for (const rounds of [[], inAll(1).slice(5)]) expect(intervalOf(rounds).highest).to.be.NaN
    })
  })

  it('is met at the end of the interval, and missed beyond it', () => {
    const [old, again] = [inAll(100), inAll(104)]
    expect(compare(old, inAll(102 * 1.04), again)).to.include({ met: true })
    expect(compare(old, inAll(102 * 1.041), again)).to.include({ met: false })
  })

  it('is met by a new version that costs less', () => {
    expect(compare(inAll(100), inAll(50), inAll(100))).to.include({ old: 100, new: 50, ratio: 0.5, met: true })
  })

  it('is of the rounds: a machine that becomes slower slows all in a round', () => {
    const slowing = Array.from({ length: 12 }, (_, round) => 100 * 1.5 ** round)
    const { ratio, noise } = compare(
      slowing,
      slowing.map((cpu) => cpu * 1.1),
      slowing,
    )
    expect(ratio).to.be.closeTo(1.1, 1e-9)
    expect(noise.highest).to.equal(1)
  })

  it('is of medians: one slow round of twelve does not miss', () => {
    expect(compare(inAll(100), inAll(100).with(5, 900), inAll(100))).to.include({ ratio: 1, met: true })
  })

  it('is missed if a version was not measured', () => {
    const all = inAll(100)
    for (const [old, next, again] of [
      [[], all, []],
      [all, [], all],
      [all, all, []],
    ] as const)
      expect(compare(old, next, again)).to.include({ met: false })
  })

  it('lets a scenario cost more by what is allowed, beyond the noise', () => {
    const allowances = [{ scenario: 'long-text', mostTimes: 1.05, reason: 'it has more to do' }]
    const noisy = [inAll(100), inAll(102)] as const
    expect(compare(noisy[0], inAll(101 * 1.07), noisy[1], LONG, allowances)).to.include({ met: true })
    expect(compare(noisy[0], inAll(101 * 1.072), noisy[1], LONG, allowances)).to.include({ met: false })
    expect(compare(noisy[0], inAll(101 * 1.07), noisy[1], SMALL, allowances)).to.include({ met: false })
  })

  it('judges the slowest calls too', () => {
    const measurements = [
      ...roundsOf(SMALL, 'old', inAll(100)),
      ...roundsOf(SMALL, 'new', inAll(100), inAll(150)),
      ...roundsOf(SMALL, 'old-again', inAll(100)),
    ]
    expect(differencesOf(measurements, [SMALL]).map(({ of, met }) => ({ of, met }))).to.deep.equal([
      { of: 'CPU', met: true },
      { of: 'p99', met: false },
    ])
  })

  it('is one table with a verdict for each figure', () => {
    const differences = differencesOf(
      [
        ...roundsOf(LONG, 'old', inAll(100)),
        ...roundsOf(LONG, 'new', inAll(107), inAll(104)),
        ...roundsOf(LONG, 'old-again', inAll(100)),
      ],
      [LONG, SMALL],
    )
    expect(differenceTable(differences).split('\n')).to.deep.equal([
      '| scenario | of | old | new | new / old | old / old | at most | verdict |',
      '| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: |',
      '| long-text | CPU / request | 100 | 107 | 1.070 | 1.000 to 1.000 | 1.050 | MISSED |',
      '| long-text | p99 | 100 | 104 | 1.040 | 1.000 to 1.000 | 1.050 | met |',
      '| small | CPU / request | - | - | - | - to - | - | NOT MEASURED |',
      '| small | p99 | - | - | - | - to - | - | NOT MEASURED |',
      '',
      '`long-text` may cost 1.05 x: bodies of 100 KiB and more are searched for addresses that the upstream would fetch.',
    ])
  })

  it('names what a version could not be asked, with the reason', () => {
    const failures = [{ subject: 'old', scenario: SMALL, reason: 'it answered with status 404:\n no such endpoint' }]
    expect(failureTable(failures)).to.contain('| old | small | it answered with status 404: no such endpoint |')
  })

  it('warns if the old version differs much from itself', () => {
    const differences = (again: number) => [compare(inAll(100), inAll(100), inAll(again))]
    expect(warnOfNoise(differences(110))).to.equal(undefined)
    expect(warnOfNoise(differences(112)))
      .to.contain('in small')
      .and.contain('10 %')
  })
})
