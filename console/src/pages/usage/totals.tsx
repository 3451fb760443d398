import { Paper, SimpleGrid, Skeleton, Text } from '@mantine/core'
import type { UsageTotals } from '../../api/usage.ts'
import { exactly, percent, roughly } from '../../ui/numbers.ts'
import styles from './totals.module.css'

/** The totals of the time range. */
export function Totals({ totals }: { readonly totals: UsageTotals | undefined }) {
  const { requests = 0, errors = 0, input_tokens = 0, output_tokens = 0, cached_tokens = 0 } = totals ?? {}
  const tiles = [
    { name: 'Requests', value: roughly(requests), exact: exactly(requests) },
    { name: 'Errors', value: percent(errors, requests), exact: `${exactly(errors)} of ${exactly(requests)}` },
    { name: 'Input tokens', value: roughly(input_tokens), exact: exactly(input_tokens) },
    { name: 'Output tokens', value: roughly(output_tokens), exact: exactly(output_tokens) },
    { name: 'Cached input', value: percent(cached_tokens, input_tokens), exact: `${exactly(cached_tokens)} tokens` },
  ]
  return (
    <SimpleGrid cols={{ base: 2, sm: 3, lg: 5 }} spacing="sm">
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
