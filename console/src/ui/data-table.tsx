import { Skeleton, Table, VisuallyHidden } from '@mantine/core'
import { type ReactNode, useEffect, useState } from 'react'
import type { List } from '../api/list.ts'
import styles from './data-table.module.css'
import { Failure } from './failure.tsx'
import { LoadMore } from './load-more.tsx'
import { ChooseAll, ChooseRow, type Selection } from './selection.tsx'

/** A column: its header and its cells. */
export interface Column<Row> {
  /** Also the label of a cell in the card layout of phones; empty for a column of controls. */
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  readonly end?: boolean
  /** Hidden on narrow screens. */
  readonly spare?: boolean
  readonly width?: number | string
}

/** The columns and rows of a table. */
export interface DataTableProps<Row> {
  /** The table's accessible name. */
  readonly label: string
  /** The first column is the title of a card. */
  readonly columns: readonly Column<Row>[]
  readonly list: List<Row>
  readonly rowKey: (row: Row) => string
  /** Whether a row is dimmed. */
  readonly muted?: (row: Row) => boolean
  /** Absent: rows cannot be chosen. */
  readonly selection?: Selection<Row>
  /** Shown in place of an empty table. */
  readonly empty: ReactNode
}

const SKELETON_ROWS = 6

/** A list as a table, in any state: loading, failed, empty, loaded, or with more pages. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, list, empty, selection } = props
  const { frame, scrolls } = useScrolls()
  if (list.error !== null && list.rows === undefined) return <Failure error={list.error} onRetry={list.retry} />
  if (list.rows?.length === 0) return empty
  return (
    <>
      <div
        ref={frame}
        className={styles.frame}
        {...(scrolls && { tabIndex: 0, role: 'region', 'aria-label': `${label}, scrollable` })}
      >
        <Table
          className={[styles.table, list.stale && styles.stale, selection && styles.selectable].filter(Boolean).join(' ')}
          aria-label={label}
          aria-busy={list.rows === undefined}
        >
          <Table.Thead>
            <Table.Tr>
              {selection && (
                <Table.Th className={styles.choice}>
                  <ChooseAll selection={selection} rows={list.rows ?? []} />
                </Table.Th>
              )}
              {columns.map((column) => (
                <Table.Th key={column.header} w={column.width} className={classOf(column)}>
                  {column.header === '' ? <VisuallyHidden>Actions</VisuallyHidden> : column.header}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{list.rows === undefined ? <SkeletonRows {...props} /> : <Rows {...props} />}</Table.Tbody>
        </Table>
      </div>
      <LoadMore list={list} />
    </>
  )
}

/** Whether a frame is narrower than its content: then it must be reached by keyboard. */
function useScrolls() {
  const [element, frame] = useState<HTMLDivElement | null>(null)
  const [scrolls, setScrolls] = useState(false)
  useEffect(() => {
    if (element === null) return
    const observer = new ResizeObserver(() => setScrolls(element.scrollWidth > element.clientWidth))
    for (const each of [element, ...element.children]) observer.observe(each)
    return () => observer.disconnect()
  }, [element])
  return { frame, scrolls }
}

function Rows<Row>({ columns, list, rowKey, muted, selection }: DataTableProps<Row>) {
  return list.rows?.map((row) => (
    <Table.Tr key={rowKey(row)} className={muted?.(row) ? styles.muted : undefined}>
      {selection && (
        <Table.Td className={styles.choice}>
          <ChooseRow selection={selection} row={row} />
        </Table.Td>
      )}
      {columns.map((column, index) => (
        <Table.Td key={column.header} data-label={column.header} className={classOf(column, index)}>
          {column.cell(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}

/** `index`: of a cell. In a card, the first cell is the title, and a cell without header is in the corner. */
function classOf<Row>({ header, end, spare }: Column<Row>, index?: number): string {
  const corner = index !== undefined && index > 0 && header === ''
  return [index === 0 && styles.title, corner && styles.corner, end && styles.end, spare && styles.spare]
    .filter(Boolean)
    .join(' ')
}

/** Placeholders of the height of rows. */
function SkeletonRows<Row>({ columns, selection }: Pick<DataTableProps<Row>, 'columns' | 'selection'>) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    <Table.Tr key={row}>
      {selection && <Table.Td className={styles.choice} />}
      {columns.map((column) => (
        <Table.Td key={column.header} data-label={column.header} className={classOf(column)}>
          <Skeleton h={12} w={column.header === '' ? 24 : '70%'} miw={24} />
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}
