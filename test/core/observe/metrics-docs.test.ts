import { readFileSync } from 'node:fs'
import { glob } from 'node:fs/promises'
import { expect } from 'chai'
import type { MetricShape } from '../../../core/observe/metric-definitions.ts'
import { METRICS } from '../../../core/observe/metric-definitions.ts'

const ROOT = new URL('../../../', import.meta.url)
const DOCS = readFileSync(new URL('docs/metrics.md', ROOT), 'utf8')
const SHAPES: readonly MetricShape[] = Object.values(METRICS)

/** The cells of every table row that begins with a metric's name, in sections whose heading matches. */
function rows(headings: RegExp): string[][] {
  return DOCS.split(/^## /m)
    .filter((section) => headings.test(section))
    .flatMap((section) => section.match(/^\| `.*$/gm) ?? [])
    .map((row) =>
      row
        .split('|')
        .slice(1, -1)
        .map((cell) => cell.trim().replaceAll('`', '')),
    )
}

describe('docs/metrics.md', () => {
  it("lists exactly core's metrics, with their types, labels and meanings", () => {
    const documented = rows(/^(Calls|The gateway itself)/)
    const declared = SHAPES.map(({ name, type, labels, help }) => [name, type, labels.join(', '), help])
    expect(documented).to.have.deep.members(declared)
  })

  it('lists the buckets of every histogram', () => {
    const declared = SHAPES.filter(({ type }) => type === 'histogram').map(({ name, buckets = [] }) => [name, buckets.join(', ')])
    expect(rows(/^Buckets/)).to.have.deep.members(declared)
  })

  it('lists exactly the metrics that built-in plugins declare', async () => {
    const declared = new Set<string>()
    for await (const file of glob('plugins/**/*.ts', { cwd: ROOT })) {
      const source = readFileSync(new URL(file, ROOT), 'utf8')
      for (const [, name = ''] of source.matchAll(/'(umg_\w+)'/g)) declared.add(name)
    }
    expect(rows(/^Built-in plugins/).map(([name]) => name)).to.have.members([...declared])
  })

  it('queries only metrics that exist', () => {
    const queried = DOCS.match(/```promql[\s\S]*?```/)?.[0].match(/\b(?:umg|gen_ai)_\w+(?=[[{])/g) ?? []
    const names = queried.map((name) => name.replace(/_(?:bucket|sum|count)$/, ''))
    expect(SHAPES.map(({ name }) => name)).to.include.members(names)
    expect(names).not.to.have.length(0)
  })
})
