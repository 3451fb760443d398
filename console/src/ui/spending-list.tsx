import { Stack, Text, Tooltip } from '@mantine/core'
import type { Schemas } from '../api/http.ts'
import { dollars } from './money.ts'
import { percent } from './numbers.ts'
import { absoluteTime } from './time-words.ts'

/** A budget in its current day, week or month. */
type Spending = Schemas['Spending']

/** What is left of budgets; what was spent and when they renew, on hover. `none`: shown if there are none. */
export function SpendingList({ spending, none = 'None' }: { readonly spending: readonly Spending[]; readonly none?: string }) {
  if (spending.length === 0 && none === '') return null
  if (spending.length === 0)
    return (
      <Text size="sm" c="dimmed" span>
        {none}
      </Text>
    )
  return (
    <Stack gap={0}>
      {spending.map((one) => (
        <Tooltip key={one.budget} label={detailsOf(one)}>
          <Text size="sm" span c={Number(one.left_usd) === 0 ? 'red' : undefined}>
            {dollars(one.left_usd)} left of {one.budget}
          </Text>
        </Tooltip>
      ))}
    </Stack>
  )
}

const detailsOf = ({ spent_usd, limit_usd, renews_at }: Spending): string =>
  `${dollars(spent_usd)} spent (${percent(Number(spent_usd), Number(limit_usd))}), renews ${absoluteTime(renews_at)}`
