import type { Measurement } from './measure.ts'
import type { Scenario } from './scenarios.ts'
import { median } from './targets.ts'
import { VERSIONS } from './versions.ts'

/** Fewer rounds say too little of how much one and the same code differs. */
export const LEAST_ROUNDS = 12

/** Of the interval: with nine scenarios of two figures each, few runs miss one by chance. */
const CONFIDENCE = 0.99

/** A scenario that may cost more than before. */
export interface Allowance {
  readonly scenario: string
  readonly mostTimes: number
  readonly reason: string
}

/** What may cost more, and why. */
export const ALLOWANCES: readonly Allowance[] = ['long-text', 'image'].map((scenario) => ({
  scenario,
  mostTimes: 1.05,
  reason: 'bodies of 100 KiB and more are searched for addresses that the upstream would fetch',
}))

/** What of a scenario is compared. */
const COMPARED: readonly { readonly name: 'CPU' | 'p99'; readonly of: (measurement: Measurement) => number | undefined }[] = [
  { name: 'CPU', of: ({ cpu }) => cpu },
  { name: 'p99', of: ({ p99 }) => p99 },
]

/** One figure of one scenario by both versions. Each number is NaN if a version was not measured. */
export interface Difference {
  readonly scenario: Scenario
  readonly of: 'CPU' | 'p99'
  /** The medians, in µs; of the old version over both its runs. */
  readonly old: number
  readonly new: number
  /** The median over the rounds of new / old. Old is the mean of its two runs in the round. */
  readonly ratio: number
  /** How far the old version is from itself: see `intervalOf`. */
  readonly noise: Interval
  /** What the ratio may be at most: the end of the interval, times an allowance. */
  readonly most: number
  readonly met: boolean
}

/** Ratios around 1. */
export interface Interval {
  readonly lowest: number
  readonly highest: number
}

/** Compares the figures of two versions, by scenario. What was not measured is not met. */
export function differencesOf(
  measurements: readonly Measurement[],
  scenarios: readonly Scenario[],
  allowances: readonly Allowance[] = ALLOWANCES,
): readonly Difference[] {
  return scenarios.flatMap((scenario) => {
    const ofScenario = measurements.filter((one) => one.scenario === scenario)
    const allowed = allowances.find((one) => one.scenario === scenario.name)?.mostTimes ?? 1
    return COMPARED.map(({ name, of }) => {
      const values = (subject: string) => ofScenario.filter((one) => one.subject === subject).map((one) => of(one) ?? Number.NaN)
      const [old, next, again] = [values(VERSIONS.old), values(VERSIONS.new), values(VERSIONS.again)]
      const noise = intervalOf(old.map((value, round) => again[round]! / value))
      const ratio = median(next.map((value, round) => (2 * value) / (old[round]! + again[round]!)))
      const most = noise.highest * allowed
      return { scenario, of: name, old: median([...old, ...again]), new: median(next), ratio, noise, most, met: ratio <= most }
    })
  })
}

/**
 * How far from 1 the median of such rounds may be by chance: their 99 % confidence interval, by order statistics, which supposes no
 * distribution. Of 12 rounds it is from the second lowest to the second highest, and the more rounds, the narrower. It is symmetric (a
 * ratio and its inverse count alike), because nothing but the order distinguishes the two runs. NaN for fewer than 8 rounds.
 */
export function intervalOf(ratios: readonly number[]): Interval {
  const sorted = ratios.toSorted((a, b) => a - b)
  const cut = cutOf(sorted.length)
  const [low = Number.NaN, high = Number.NaN] = cut === 0 ? [] : [sorted[cut - 1], sorted.at(-cut)]
  const highest = Math.max(high, 1 / low)
  return { lowest: 1 / highest, highest }
}

/** The rank, from either end, of the limits of the interval: each round is as likely above the true median as below it. */
function cutOf(rounds: number): number {
  let cut = 0
  // How likely it is that exactly `cut` rounds are below the median; and that at most so many are.
  let exactly = 0.5 ** rounds
  for (let atMost = exactly; 2 * atMost <= 1 - CONFIDENCE; atMost += exactly) {
    exactly *= (rounds - cut) / (cut + 1)
    cut++
  }
  return cut
}
