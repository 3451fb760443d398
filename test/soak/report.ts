import type { Finding, Scenario } from './scenario.ts'

/** The findings of one scenario. */
export interface ScenarioReport {
  readonly name: string
  readonly findings: readonly Finding[]
}

/** All findings, and the scenarios that were left out, as Markdown. */
export function reportOf(workers: number, reports: readonly ScenarioReport[], left: readonly Scenario[]): string {
  const reasons = left.map(({ name, notWithWorkers }) => `- \`${name}\` does not run with several workers: ${notWithWorkers}.`)
  return [`Gateways with \`--workers ${workers}\`:`, findingTable(reports), ...reasons].join('\n\n')
}

/** All findings as a Markdown table. */
function findingTable(reports: readonly ScenarioReport[]): string {
  const rows = reports.flatMap(({ name, findings }) =>
    findings.map(({ what, measured, allowed, met }) => [name, what, measured, allowed, met ? 'met' : 'EXCEEDED']),
  )
  const head = ['scenario', 'what', 'measured', 'allowed', 'result']
  const lines = [head, head.map(() => '---'), ...rows]
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => cells[column]!.length)))
  const padded = (cells: readonly string[]) =>
    cells.map((cell, column) => cell.padEnd(widths[column]!, cell === '---' ? '-' : ' '))
  return lines.map((cells) => `| ${padded(cells).join(' | ')} |`).join('\n')
}
