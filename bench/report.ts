import { IDLE_STREAMS, type IdleCost } from './idle-streams.ts'
import type { Failure, Garbage, Measurement } from './measure.ts'
import { ALLOWANCES, type Difference } from './regressions.ts'
import { median, timesOf, turnTimes, type Verdict } from './targets.ts'
import type { TurnCost } from './turns.ts'

/** Above it other work changes what is measured: a proxy that was kept waiting moves more bytes at once, at less cost for each. */
const MOST_WAITING = 0.1

/** Above it a change of the size that matters is not seen: the old version differs from itself by as much. */
const MOST_NOISE = 1.1

/** Of a reason in the table; progress shows all of it. */
const MOST_CHARACTERS = 160

/** The medians over all rounds as a Markdown table: a row for each scenario and what its requests went through. */
export function resultTable(measurements: readonly Measurement[]): string {
  const rows = Map.groupBy(measurements, ({ scenario, subject }) => `${scenario.name} ${subject}`)
  return table(
    ['scenario', 'through', 'CPU', 'lowest to highest', 'x relay', 'waited', 'per second', 'p50', 'p99', 'first byte p50'],
    Array.from(rows.values(), (rounds) => resultRow(rounds, measurements)),
  )
}

/** What idle streams cost, as a Markdown table. */
export function idleTable(costs: readonly IdleCost[]): string {
  const rows = costs.map(({ subject, msPerSecond, kibibytes }) => [subject, cell(msPerSecond), cell(kibibytes)])
  const streams = IDLE_STREAMS.toLocaleString('en')
  return table([`${streams} idle streams through`, 'CPU, ms per second', 'memory of each, KiB'], rows, 1)
}

/** What turns on sockets cost beside calls by HTTP, as a Markdown table. */
export function turnTable(costs: readonly TurnCost[]): string {
  const rows = costs.map((cost) => [
    cost.upstream,
    cell(median(cost.socket)),
    cell(median(cost.http)),
    multiple(turnTimes(cost), 2),
  ])
  return table(['calls of /v1/responses by', 'CPU on a socket, µs', 'CPU by HTTP, µs', 'socket / HTTP'], rows, 1)
}

/** What a unit of each scenario allocates, as a Markdown table. */
export function garbageTable(amounts: readonly Garbage[]): string {
  const rows = amounts.map(({ scenario, subject, kibibytes }) => [scenario.name, subject, cell(kibibytes, ` / ${scenario.unit}`)])
  return table(['scenario', 'through', 'allocated, KiB'], rows)
}

/** The targets and their results as a Markdown table. */
export function verdictTable(verdicts: readonly Verdict[]): string {
  const rows = verdicts.map(({ scenario, target, measured, met }) => [scenario, target, measured, met ? 'met' : 'MISSED'])
  return table(['scenario', 'target', 'measured', 'verdict'], rows)
}

/** What two versions cost, as a Markdown table. */
export function differenceTable(differences: readonly Difference[]): string {
  const rows = differences.map(({ scenario, of, ...figures }) => [
    scenario.name,
    of === 'CPU' ? `CPU / ${scenario.unit}` : of,
    cell(figures.old),
    cell(figures.new),
    multiple(figures.ratio, 3),
    `${multiple(figures.noise.lowest, 3)} to ${multiple(figures.noise.highest, 3)}`,
    multiple(figures.most, 3),
    verdictOf(figures),
  ])
  const reasons = ALLOWANCES.filter((allowance) => differences.some(({ scenario }) => scenario.name === allowance.scenario))
  return [
    table(['scenario', 'of', 'old', 'new', 'new / old', 'old / old', 'at most', 'verdict'], rows),
    ...reasons.map(({ scenario, mostTimes, reason }) => `\n\`${scenario}\` may cost ${mostTimes} x: ${reason}.`),
  ].join('\n')
}

/** A warning if an old version differs much from itself; undefined if none does. */
export function warnOfNoise(differences: readonly Difference[]): string | undefined {
  const noisy = differences.filter(({ of, noise }) => of === 'CPU' && noise.highest > MOST_NOISE)
  if (noisy.length === 0) return undefined
  const names = noisy.map(({ scenario }) => scenario.name).join(', ')
  return `The machine was busy: in ${names} the CPU of the old version differs from its own by more than ${percent(MOST_NOISE - 1)}, and a smaller change is not seen. Repeat it on a quiet machine.`
}

/** What of two versions was not measured, and why, as a Markdown table. */
export function failureTable(failures: readonly Failure[]): string {
  const rows = failures.map(({ subject, scenario, reason }) => [subject, scenario?.name ?? 'all', oneLine(reason)])
  return table(['not measured', 'scenario', 'reason'], rows, 3)
}

/** What a subject does beside relaying. */
export interface Described {
  readonly subject: Measurement['subject']
  readonly switchedOn: string
  /** In MiB, after the last round; absent where it did not start. */
  readonly memory?: number
}

/** What each subject had switched on, and what of it was not measured, as a Markdown table. */
export function subjectTable(described: readonly Described[], failures: readonly Failure[]): string {
  const rows = described.map(({ subject, switchedOn, memory }) => [
    subject,
    switchedOn,
    notMeasured(failures.filter((one) => one.subject === subject)),
    cell(memory ?? Number.NaN),
  ])
  return table(['through', 'switched on', 'not measured', 'memory, MiB'], rows, 3)
}

/** A warning where nginx, which has its core to itself on a quiet machine, had to wait for it; undefined where it had not. */
export function warnOfBusyMachine(measurements: readonly Measurement[]): string | undefined {
  const waited = median(measurements.filter(({ subject }) => subject === 'nginx').flatMap(({ waited }) => waited ?? []))
  if (Number.isNaN(waited) || waited <= MOST_WAITING) return undefined
  return `The machine was busy: nginx waited ${percent(waited)} of its time for its core. Trust no verdict of this run; repeat it on a quiet machine.`
}

function resultRow(rounds: readonly Measurement[], measurements: readonly Measurement[]): string[] {
  const { scenario, subject } = rounds[0]!
  const cpu = rounds.flatMap((round) => round.cpu ?? [])
  const times = timesOf(measurements, scenario.name, { subject, reference: 'relay' })
  const values = (name: 'waited' | 'perSecond' | 'p50' | 'p99' | 'firstByte') => rounds.flatMap((round) => round[name] ?? [])
  return [
    scenario.name,
    subject,
    cell(median(cpu), ` / ${scenario.unit}`),
    cpu.length > 0 ? `${cell(Math.min(...cpu))} to ${cell(Math.max(...cpu))}` : '-',
    multiple(times, 2),
    percent(median(values('waited'))),
    cell(median(values('perSecond'))),
    cell(median(values('p50'))),
    cell(median(values('p99'))),
    cell(median(values('firstByte'))),
  ]
}

function cell(value: number, unit = ''): string {
  if (Number.isNaN(value)) return '-'
  return (value < 100 ? value.toFixed(1) : Math.round(value).toLocaleString('en')) + unit
}

function multiple(value: number, digits: number): string {
  return Number.isNaN(value) ? '-' : value.toFixed(digits)
}

function verdictOf({ ratio, most, met }: Pick<Difference, 'ratio' | 'most' | 'met'>): string {
  if (met) return 'met'
  return Number.isNaN(ratio) || Number.isNaN(most) ? 'NOT MEASURED' : 'MISSED'
}

function percent(share: number): string {
  return Number.isNaN(share) ? '-' : `${Math.round(share * 100)} %`
}

function notMeasured(failures: readonly Failure[]): string {
  const reasons = failures.map(({ scenario, reason }) => `${scenario?.name ?? 'all'}: ${oneLine(reason)}`)
  return reasons.join('; ') || '-'
}

/** A reason as a cell of a table can hold it: others' programs print pages. */
function oneLine(reason: string): string {
  const line = reason.replace(/\s+/g, ' ').replaceAll('|', '\\|')
  return line.length > MOST_CHARACTERS ? `${line.slice(0, MOST_CHARACTERS)} …` : line
}

/** The first `words` columns hold words, the others numbers. */
function table(head: readonly string[], rows: readonly (readonly string[])[], words = 2): string {
  const line = (cells: readonly string[]) => `| ${cells.join(' | ')} |`
  const rule = head.map((_, column) => (column < words ? '---' : '---:'))
  return [head, rule, ...rows].map(line).join('\n')
}
