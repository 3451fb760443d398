import type { IdleCost } from './idle-streams.ts'
import type { Garbage, Measurement } from './measure.ts'

/** What became of a target. */
export interface Verdict {
  readonly scenario: string
  /** In words. */
  readonly target: string
  /** With its unit. */
  readonly measured: string
  readonly met: boolean
}

/** How much of a reference's CPU a subject may use for each unit of a scenario. */
export interface Comparison {
  readonly scenario: string
  readonly subject: Measurement['subject']
  readonly reference: Measurement['subject']
  /** The scenario of the reference; absent: the same one. */
  readonly beside?: string
  readonly mostTimes: number
}

const GATEWAY = { subject: 'gateway', reference: 'gateway' } as const
const RELAYED = { subject: 'gateway', reference: 'relay' } as const

/**
 * What the gateway may use beside a proxy that only relays, other protocols beside chat, shared limits and a budget beside limits in memory,
 * and a second worker beside one.
 */
const COMPARISONS: readonly Comparison[] = [
  { scenario: 'small', ...RELAYED, mostTimes: 1.6 },
  { scenario: 'stream', ...RELAYED, mostTimes: 1.6 },
  { scenario: 'paced-stream', ...RELAYED, mostTimes: 1 },
  { scenario: 'long-text', ...RELAYED, mostTimes: 2 },
  { scenario: 'image', ...RELAYED, mostTimes: 2 },
  { scenario: 'translated', ...RELAYED, mostTimes: 2.7 },
  { scenario: 'translated-whole', ...RELAYED, beside: 'small', mostTimes: 2.7 },
  { scenario: 'by-responses', ...GATEWAY, beside: 'translated', mostTimes: 1.25 },
  { scenario: 'messages', ...GATEWAY, beside: 'stream', mostTimes: 1.1 },
  { scenario: 'responses', ...GATEWAY, beside: 'translated', mostTimes: 1.6 },
  ...['gateway', 'limits-redis', 'budget', 'budget-redis'].map((subject) => ({
    scenario: 'small',
    subject,
    reference: 'limits-memory',
    mostTimes: 1.03,
  })),
  { scenario: 'responses', subject: 'kept-responses', reference: 'gateway', mostTimes: 1.1 },
  { scenario: 'small', subject: 'two-workers', reference: 'gateway', mostTimes: 1.2 },
]

/** What the p99 of small calls may be, as a multiple of their p50. */
const TAIL = { scenario: 'small', mostTimesMedian: 2 }
/** What a small call may allocate, in KiB. */
const GARBAGE = { scenario: 'small', what: 'garbage of gateway per request', most: 35, unit: 'KiB' }
/** What all idle streams may cost together, in milliseconds of CPU per second, and the memory that each may take, in KiB. */
const IDLE_MS = 30
const IDLE_KIB = 45
/** What a gateway of two workers may cost that serves nothing, in milliseconds of CPU per second. */
const REST_MS = 5
/** The memory that a process of the gateway may have after the last round, in MiB. */
const MEMORY_MIB = 200

/** The comparisons of a run with these subjects and scenarios. */
export const comparisonsOf = (subjects: readonly string[], scenarios: readonly string[]): readonly Comparison[] =>
  COMPARISONS.filter(
    ({ scenario, subject, reference, beside = scenario }) =>
      [subject, reference].every((name) => subjects.includes(name)) &&
      [scenario, beside].every((name) => scenarios.includes(name)),
  )

/** Judges the comparisons of a run, and the slowest calls. A target is missed if what it needs could not be measured. */
export function judge(measurements: readonly Measurement[], comparisons: readonly Comparison[]): Verdict[] {
  return [
    ...comparisons.map((comparison) => judgeCpu(measurements, comparison)),
    ...(measurements.some(({ scenario }) => scenario.name === TAIL.scenario) ? [judgeTail(measurements)] : []),
  ]
}

/** Judges what calls of the gateway allocate. */
export const judgeGarbage = (amounts: readonly Garbage[]): Verdict[] =>
  amounts
    .filter(({ scenario, subject }) => scenario.name === GARBAGE.scenario && subject === 'gateway')
    .map(({ kibibytes }) => atMost(GARBAGE, kibibytes))

/** Judges what a gateway of two workers costs at rest, in milliseconds of CPU per second. */
export const judgeRest = (msPerSecond: number): Verdict =>
  atMost({ scenario: 'at-rest', what: 'CPU of a gateway of two workers', most: REST_MS, unit: 'ms per second' }, msPerSecond)

/** Judges what idle streams cost the gateway. */
export function judgeIdle(costs: readonly IdleCost[]): Verdict[] {
  return costs
    .filter(({ subject }) => subject === 'gateway')
    .flatMap(({ msPerSecond, kibibytes }) => [
      atMost({ scenario: 'idle-streams', what: 'CPU of gateway', most: IDLE_MS, unit: 'ms per second' }, msPerSecond),
      atMost({ scenario: 'idle-streams', what: 'memory of each through gateway', most: IDLE_KIB, unit: 'KiB' }, kibibytes),
    ])
}

/** Judges the memory of a gateway's largest process after the last round, in MiB. */
export const judgeMemory = (subject: Measurement['subject'], mebibytes: number): Verdict =>
  atMost({ scenario: 'all', what: `memory of a process of ${subject}`, most: MEMORY_MIB, unit: 'MiB' }, mebibytes)

/** Pairs within a round: what slows the machine for some seconds slows both. NaN where one of the two was not measured. */
export function timesOf(
  measurements: readonly Measurement[],
  scenario: string,
  { subject, reference, beside = scenario }: Pick<Comparison, 'subject' | 'reference' | 'beside'>,
): number {
  const [own, references] = [cpuOf(measurements, scenario, subject), cpuOf(measurements, beside, reference)]
  return median(own.flatMap((cpu, round) => (references[round] === undefined ? [] : cpu / references[round])))
}

/** NaN where there is nothing. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length >> 1
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function judgeCpu(measurements: readonly Measurement[], comparison: Comparison): Verdict {
  const { scenario, subject, reference, beside, mostTimes } = comparison
  const unit = measurements.find((one) => one.scenario.name === scenario)?.scenario.unit ?? 'request'
  const times = timesOf(measurements, scenario, comparison)
  return {
    scenario,
    target: `CPU of ${subject} per ${unit} at most ${mostTimes} x ${reference}${beside === undefined ? '' : ` in ${beside}`}`,
    measured: `${times.toFixed(3)} x`,
    met: times <= mostTimes,
  }
}

function judgeTail(measurements: readonly Measurement[]): Verdict {
  const { scenario, mostTimesMedian } = TAIL
  const rounds = measurements.filter((one) => one.scenario.name === scenario && one.subject === 'gateway')
  const times = median(rounds.flatMap(({ p50, p99 }) => (p50 === undefined || p99 === undefined ? [] : p99 / p50)))
  return {
    scenario,
    target: `p99 of gateway at most ${mostTimesMedian} x p50`,
    measured: `${times.toFixed(3)} x`,
    met: times <= mostTimesMedian,
  }
}

interface Limit {
  readonly scenario: string
  readonly what: string
  readonly most: number
  readonly unit: string
}

const atMost = ({ scenario, what, most, unit }: Limit, value: number): Verdict => ({
  scenario,
  target: `${what} at most ${most} ${unit}`,
  measured: `${value.toFixed(1)} ${unit}`,
  met: value <= most,
})

const cpuOf = (measurements: readonly Measurement[], scenario: string, subject: string): readonly number[] =>
  measurements.filter((one) => one.scenario.name === scenario && one.subject === subject).flatMap(({ cpu }) => cpu ?? [])
