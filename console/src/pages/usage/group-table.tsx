import { Table, Text } from '@mantine/core'
import { dollars, spent, unpricedNote } from '../../ui/money.ts'
import { exactly, percent } from '../../ui/numbers.ts'
import styles from './group-table.module.css'
import type { GroupTotals } from './metrics.ts'

/** A group with its color in the chart and its totals. */
export interface GroupRow {
  readonly name: string
  readonly label: string
  readonly color: string
  readonly totals: GroupTotals
}

/** The legend of the chart, with the totals of each group. */
export function GroupTable({ rows, what }: { readonly rows: readonly GroupRow[]; readonly what: string }) {
  return (
    <Table.ScrollContainer minWidth={640} scrollAreaProps={{ viewportProps: { tabIndex: 0, 'aria-label': `Usage by ${what}` } }}>
      <Table className={styles.table} aria-label={`Usage by ${what}`} tabularNums>
        <Table.Thead>
          <Table.Tr>
            <Table.Th tt="capitalize">{what}</Table.Th>
            {['Requests', 'Errors', 'Input tokens', 'Output tokens', 'Cached', 'Saved', 'Cost'].map((header) => (
              <Table.Th key={header} className={styles.number}>
                {header}
              </Table.Th>
            ))}
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {rows.map(({ name, label, color, totals }) => (
            <Table.Tr key={name}>
              <Table.Td>
                <span className={styles.group}>
                  <span className={styles.swatch} style={{ background: color }} aria-hidden="true" />
                  <Text size="sm" truncate maw={360} title={label}>
                    {label}
                  </Text>
                </span>
              </Table.Td>
              <Table.Td className={styles.number}>{exactly(totals.requests)}</Table.Td>
              <Table.Td className={styles.number}>{percent(totals.errors, totals.requests)}</Table.Td>
              <Table.Td className={styles.number}>{exactly(totals.input_tokens)}</Table.Td>
              <Table.Td className={styles.number}>{exactly(totals.output_tokens)}</Table.Td>
              <Table.Td className={styles.number}>{percent(totals.cached_tokens, totals.input_tokens)}</Table.Td>
              <Table.Td className={styles.number}>{dollars(totals.saved_usd)}</Table.Td>
              <Table.Td className={styles.number} title={unpricedNote(totals.unpriced)}>
                {spent(totals)}
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    </Table.ScrollContainer>
  )
}
