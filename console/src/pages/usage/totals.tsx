import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { UsageTotals } from '../../api/usage.ts'
import { dollars, spent, unpricedNote } from '../../ui/money.ts'
import { exactly, percent, roughly } from '../../ui/numbers.ts'
import styles from './totals.module.css'

/** Both the exact amount, and what is not in it. */
const costInFull = (usd: string | null, unpriced: number): string =>
  [usd === null ? 'Unknown' : `${usd} USD`, unpricedNote(unpriced)].filter((part) => part !== '').join('; ')

/** The totals of the time range. */
export function Totals({ totals }: { readonly totals: UsageTotals | undefined }) {
  const {
    requests = 0,
    errors = 0,
    input_tokens = 0,
    output_tokens = 0,
    cached_tokens = 0,
    cost_usd = null,
    saved_usd = null,
    unpriced = 0,
  } = totals ?? {}
  const tiles = [
    { name: 'Requests', value: roughly(requests), exact: exactly(requests) },
    { name: 'Errors', value: percent(errors, requests), exact: `${exactly(errors)} of ${exactly(requests)}` },
    { name: 'Input tokens', value: roughly(input_tokens), exact: exactly(input_tokens) },
    { name: 'Output tokens', value: roughly(output_tokens), exact: exactly(output_tokens) },
    { name: 'Cached input', value: percent(cached_tokens, input_tokens), exact: `${exactly(cached_tokens)} tokens` },
    { name: 'Cost', value: spent({ cost_usd, unpriced }), exact: costInFull(cost_usd, unpriced) },
    { name: 'Saved by caches', value: dollars(saved_usd), exact: costInFull(saved_usd, unpriced) },
  ]
  return (
    <SimpleGrid cols={{ base: 2, sm: 4, lg: 7 }} spacing="sm">
      {tiles.map(({ name, value, exact }) => (
        <Paper key={name} withBorder p="md" className={styles.tile}>
          <Text size="xs" c="dimmed">
            {name}
          </Text>
          {totals === undefined ? (
            <Skeleton h={26} mt={6} w={90} />
          ) : (
            <Text className={styles.value} title={exact}>
              {value}
            </Text>
          )}
        </Paper>
      ))}
    </SimpleGrid>
  )
}
