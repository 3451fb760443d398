import { Stack, Text } from '@mantine/core'
import type { Schemas } from '../api/http.ts'
import { spent, unpricedNote } from './money.ts'
import { SpendingList } from './spending-list.tsx'

/** What an object of a list has cost lately, and what it may still cost. */
export type CostCellProps = Pick<Schemas['Account'], 'cost' | 'spending'>

/** The cost of the last thirty days, and what is left of the budgets. */
export function CostCell({ cost: { usd, unpriced }, spending }: CostCellProps) {
  return (
    <Stack gap={0}>
      <Text
        size="sm"
        span
        title={['In the last 30 days, in days of UTC', unpricedNote(unpriced)].filter((part) => part !== '').join('; ')}
      >
        {spent({ cost_usd: usd, unpriced })}
      </Text>
      <SpendingList spending={spending} none="" />
    </Stack>
  )
}
