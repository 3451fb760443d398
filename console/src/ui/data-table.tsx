import { Skeleton, Table } from '@mantine/core'
import type { ReactNode } from 'react'
import type { List } from '../api/list.ts'
import styles from './data-table.module.css'
import { Failure } from './failure.tsx'
import { LoadMore } from './load-more.tsx'

/** One column: its header, and what a row shows in it. */
export interface Column<Row> {
  /** Also says what a cell is where the table becomes cards; empty for a column of controls. */
  readonly header: string
  readonly cell: (row: Row) => ReactNode
  readonly end?: boolean
  /** Left out where there is little room. */
  readonly spare?: boolean
  readonly width?: number | string
}

/** A table and what it stands for. */
export interface DataTableProps<Row> {
  /** What the rows are, for those who do not see them. */
  readonly label: string
  /** The first names the row. */
  readonly columns: readonly Column<Row>[]
  readonly list: List<Row>
  readonly rowKey: (row: Row) => string
  /** Rows that no longer count. */
  readonly muted?: (row: Row) => boolean
  /** Instead of a table without rows. */
  readonly empty: ReactNode
}

const SKELETON_ROWS = 6

/** A list in whatever state it is: being read, refused, empty, there, or with more to come. */
export function DataTable<Row>(props: DataTableProps<Row>) {
  const { label, columns, list, empty } = props
  if (list.error !== null && list.rows === undefined) return <Failure error={list.error} onRetry={list.retry} />
  if (list.rows?.length === 0) return empty
  return (
    <>
      <div className={styles.frame}>
        <Table
          className={`${styles.table} ${list.stale ? styles.stale : ''}`}
          aria-label={label}
          aria-busy={list.rows === undefined}
        >
          <Table.Thead>
            <Table.Tr>
              {columns.map((column) => (
                <Table.Th key={column.header} w={column.width} className={classOf(column)}>
                  {column.header}
                </Table.Th>
              ))}
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>{list.rows === undefined ? <SkeletonRows columns={columns} /> : <Rows {...props} />}</Table.Tbody>
        </Table>
      </div>
      <LoadMore list={list} />
    </>
  )
}

function Rows<Row>({ columns, list, rowKey, muted }: DataTableProps<Row>) {
  return list.rows?.map((row) => (
    <Table.Tr key={rowKey(row)} className={muted?.(row) ? styles.muted : undefined}>
      {columns.map((column, index) => (
        <Table.Td key={column.header} data-label={column.header} className={classOf(column, index)}>
          {column.cell(row)}
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}

/** `index`: of a cell; the first is the title of its card, and what has no header stands in its corner. */
function classOf<Row>({ header, end, spare }: Column<Row>, index?: number): string {
  const corner = index !== undefined && index > 0 && header === ''
  return [index === 0 && styles.title, corner && styles.corner, end && styles.end, spare && styles.spare]
    .filter(Boolean)
    .join(' ')
}

/** As high as the rows to come. */
function SkeletonRows<Row>({ columns }: { readonly columns: readonly Column<Row>[] }) {
  return Array.from({ length: SKELETON_ROWS }, (_, row) => (
    <Table.Tr key={row}>
      {columns.map((column) => (
        <Table.Td key={column.header} data-label={column.header} className={classOf(column)}>
          <Skeleton h={12} w={column.header === '' ? 24 : '70%'} miw={24} />
        </Table.Td>
      ))}
    </Table.Tr>
  ))
}
