import type { IdleCost } from './idle-streams.ts'
import type { Measurement } from './measure.ts'
import type { Scenario } from './scenarios.ts'

/** What became of a target. */
export interface Verdict {
  readonly scenario: string
  /** In words. */
  readonly target: string
  /** With its unit. */
  readonly measured: string
  readonly met: boolean
}

/** How much of the reference's CPU a subject may use. */
export interface Comparison {
  readonly scenario: string
  readonly subject: Measurement['subject']
  readonly reference: Measurement['subject']
  /** The scenario of the reference, if it is another one of the same unit. */
  readonly beside?: string
  readonly mostTimes: number
}

/** What shared limits and a budget may cost beside limits in memory, a second worker beside one, and other protocols beside chat. */
const COMPARISONS: readonly Comparison[] = [
  ...['gateway', 'limits-redis', 'budget', 'budget-redis'].map((subject) => ({
    scenario: 'small',
    subject,
    reference: 'limits-memory',
    mostTimes: 1.03,
  })),
  { scenario: 'small', subject: 'two-workers', reference: 'gateway', mostTimes: 1.1 },
  { scenario: 'by-responses', subject: 'gateway', reference: 'gateway', beside: 'translated', mostTimes: 1.25 },
  { scenario: 'messages', subject: 'gateway', reference: 'gateway', beside: 'stream', mostTimes: 1.1 },
  { scenario: 'responses', subject: 'gateway', reference: 'gateway', beside: 'translated', mostTimes: 1.6 },
]

/** What all idle streams may cost together, in milliseconds of CPU per second, and the memory that each may take, in KiB. */
const IDLE_MS = 30
const IDLE_KIB = 45
/** The memory that a process of the gateway may have after the last round, in MiB. */
const MEMORY_MIB = 200

/** The comparisons of a run with these subjects and scenarios. */
export const comparisonsOf = (subjects: readonly string[], scenarios: readonly string[]): readonly Comparison[] =>
  COMPARISONS.filter(
    ({ scenario, subject, reference, beside = scenario }) =>
      [subject, reference].every((name) => subjects.includes(name)) &&
      [scenario, beside].every((name) => scenarios.includes(name)),
  )

/** Judges the scenarios that have targets, and comparisons. A target is missed if what it needs could not be measured. */
export function judge(measurements: readonly Measurement[], comparisons: readonly Comparison[] = []): Verdict[] {
  const measured = new Set(measurements.map(({ scenario }) => scenario))
  return Array.from(measured).flatMap((scenario) => [
    ...judgeCpu(measurements, scenario, comparisons),
    ...judgeTail(measurements, scenario),
  ])
}

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

function judgeCpu(measurements: readonly Measurement[], scenario: Scenario, comparisons: readonly Comparison[]): Verdict[] {
  const { name, unit, mostTimesNginx } = scenario
  const targets: readonly Comparison[] = [
    ...(mostTimesNginx === undefined
      ? []
      : [{ scenario: name, subject: 'gateway', reference: 'nginx', mostTimes: mostTimesNginx }]),
    ...comparisons.filter((one) => one.scenario === name),
  ]
  return targets.map((target) => {
    const { subject, reference, beside, mostTimes } = target
    const times = timesOf(measurements, name, target)
    return {
      scenario: name,
      target: `CPU of ${subject} per ${unit} at most ${mostTimes} x ${reference}${beside === undefined ? '' : ` in ${beside}`}`,
      measured: `${times.toFixed(3)} x`,
      met: times <= mostTimes,
    }
  })
}

function judgeTail(measurements: readonly Measurement[], scenario: Scenario): Verdict[] {
  const { name, mostTimesMedian } = scenario
  if (mostTimesMedian === undefined) return []
  const rounds = measurements.filter((one) => one.scenario === scenario && one.subject === 'gateway')
  const times = median(rounds.flatMap(({ p50, p99 }) => (p50 === undefined || p99 === undefined ? [] : p99 / p50)))
  return [
    {
      scenario: name,
      target: `p99 of gateway at most ${mostTimesMedian} x p50`,
      measured: `${times.toFixed(3)} x`,
      met: times <= mostTimesMedian,
    },
  ]
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
