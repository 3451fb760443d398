import { Checkbox } from '@mantine/core'
import { useState } from 'react'

/** The rows of a table that are chosen for one action. */
export interface Selection<Row> {
  /** The chosen rows, of those that are shown: what is not seen is not changed. */
  readonly chosen: readonly Row[]
  /** Whether a row can be chosen. */
  readonly allows: (row: Row) => boolean
  /** The accessible name of a row's checkbox. */
  readonly labelOf: (row: Row) => string
  readonly toggle: (rows: readonly Row[], on: boolean) => void
}

/** What `useSelection` needs to know of rows. */
export interface SelectableRows<Row> extends Pick<Selection<Row>, 'allows' | 'labelOf'> {
  /** The rows that are shown. */
  readonly rows: readonly Row[] | undefined
}

/** Keeps which rows are chosen. Rows that are no longer shown, or no longer allowed, are not. */
export function useSelection<Row extends { readonly id: string }>({
  rows = [],
  allows,
  labelOf,
}: SelectableRows<Row>): Selection<Row> {
  const [ids, setIds] = useState<ReadonlySet<string>>(new Set())
  const chosen = rows.filter((row) => ids.has(row.id) && allows(row))
  function toggle(some: readonly Row[], on: boolean): void {
    const next = new Set(chosen.map(({ id }) => id))
    for (const { id } of some) {
      if (on) next.add(id)
      else next.delete(id)
    }
    setIds(next)
  }
  return { chosen, allows, labelOf, toggle }
}

/** Chooses all rows that are shown, or none. */
export function ChooseAll<Row>({ selection, rows }: { readonly selection: Selection<Row>; readonly rows: readonly Row[] }) {
  const { chosen, allows, toggle } = selection
  const allowed = rows.filter(allows)
  const all = allowed.length > 0 && chosen.length === allowed.length
  return (
    <Checkbox
      size="xs"
      aria-label="Choose all that are shown"
      disabled={allowed.length === 0}
      checked={all}
      indeterminate={!all && chosen.length > 0}
      onChange={() => toggle(allowed, !all)}
    />
  )
}

/** Chooses a row. Nothing for a row that cannot be chosen. */
export function ChooseRow<Row>({ selection, row }: { readonly selection: Selection<Row>; readonly row: Row }) {
  const { chosen, allows, labelOf, toggle } = selection
  if (!allows(row)) return null
  return (
    <Checkbox
      size="xs"
      aria-label={labelOf(row)}
      checked={chosen.includes(row)}
      onChange={({ currentTarget }) => toggle([row], currentTarget.checked)}
    />
  )
}
