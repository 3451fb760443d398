import { TOTALS_SHOWN, type Totals, viewTotals } from '../../usage/rollup.ts'
import { type CommandIo, type JsonOption, writeCells, writeJson } from '../output.ts'

/** Totals of calls by group, and of all groups. */
export interface GroupTotals {
  readonly rows: readonly { readonly label: string; readonly totals: Totals }[]
  readonly totals: Totals
}

/** Prints totals by group as a table, or as JSON. `group`: the heading of the groups, such as `tag:team`. */
export function writeTotals(group: string, { rows, totals }: GroupTotals, { json }: JsonOption, io: CommandIo): void {
  if (json) {
    const groups = rows.map((row) => ({ label: row.label, ...viewTotals(row.totals) }))
    writeJson({ group, groups, total: viewTotals(totals) }, io)
    return
  }
  const headings = [group.replace(/^tag:/, ''), ...TOTALS_SHOWN].map((heading) => heading.replace('_', ' ').toUpperCase())
  writeCells([headings, ...rows.map((row) => cellsOf(row.label, row.totals)), cellsOf('TOTAL', totals)], io)
}

function cellsOf(label: string, totals: Totals): string[] {
  const view = viewTotals(totals)
  return [label, ...TOTALS_SHOWN.map((name) => String(view[name] ?? 'unknown'))]
}
