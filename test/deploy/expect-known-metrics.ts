import { expect } from 'chai'
import { METRICS, type MetricShape } from '../../core/observe/metric-definitions.ts'
import { readText } from '../support/sources.ts'
import { selectorsOf } from './promql.ts'

/** Labels that Prometheus adds to all series of a target. */
const TARGET_LABELS = ['job', 'instance']

/** What Prometheus itself adds, and what Node's own metrics are. */
const NOT_OURS = /^(?:up|(?:process|nodejs)_\w+)$/

/** The labels of each metric of core and of the built-in plugins, by the names of its series. */
const KNOWN = new Map([...Object.values(METRICS).flatMap(seriesOf), ...ofPlugins()])

/** Expects that an expression of PromQL queries series and labels that a gateway has, or that rules record. */
export function expectKnownMetrics(expression: string, recorded: ReadonlySet<string> = new Set()): void {
  const selectors = selectorsOf(expression).filter(({ metric }) => !NOT_OURS.test(metric) && !recorded.has(metric))
  for (const { metric, labels } of selectors) {
    expect([...KNOWN.keys()], expression).to.include(metric)
    expect([...KNOWN.get(metric)!, ...TARGET_LABELS], expression).to.include.members([...labels])
  }
}

function seriesOf({ name, type, labels }: MetricShape): readonly (readonly [string, readonly string[]])[] {
  if (type !== 'histogram') return [[name, labels]]
  return [
    [`${name}_bucket`, [...labels, 'le']],
    [`${name}_count`, labels],
    [`${name}_sum`, labels],
  ]
}

/** Another test compares their table in the docs with their code. */
function ofPlugins(): readonly (readonly [string, readonly string[]])[] {
  const [, section = ''] = readText('docs/metrics.md').split('## Built-in plugins')
  const rows = section.split('\n## ')[0]!.matchAll(/^\| `(\w+)` \| \w+ \|([^|]*)\|/gm)
  return Array.from(rows, ([, name, labels]) => [name!, Array.from(labels!.matchAll(/`(\w+)`/g), ([, label]) => label!)])
}
