import { expect } from 'chai'
import { readText } from '../support/sources.ts'

/** The processor time of the gateway by scenario, in µs, from the results of the benchmark. */
const measured = new Map(
  [...readText('docs/performance.md').matchAll(/^\| ([\w-]+) \| gateway \| ([\d.]+) \//gm)].map(([, scenario, cpu]) => [
    scenario,
    cpu,
  ]),
)

describe('docs/capacity.md', () => {
  const page = readText('docs/capacity.md')

  it('plans with the figures that were measured', () => {
    const rows = [...page.matchAll(/^\| .+ \| `([\w-]+)` \| ([\d.]+) \|$/gm)]
    expect(rows.length).to.be.greaterThan(4)
    for (const [, scenario, cpu] of rows) expect(cpu, scenario).to.equal(measured.get(scenario!))
  })

  it('calculates right', () => {
    const sums = [...page.matchAll(/\| ([\d,]+) × ([\d.]+) ÷ ([\d,]+) \| ([\d.]+) \|$/gm)]
    expect(sums.length).to.be.greaterThan(2)
    for (const [line, ...figures] of sums) {
      const [count, micros, budget, cores] = figures.map((figure) => Number(figure.replaceAll(',', '')))
      expect(((count! * micros!) / budget!).toFixed(1), line).to.equal(cores!.toFixed(1))
    }
  })
})
