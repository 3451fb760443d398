import { Box, Button, Paper, Skeleton, Stack, Text, useComputedColorScheme } from '@mantine/core'
import { IconChartBar, IconDownload } from '@tabler/icons-react'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { useAccount } from '../../api/accounts.ts'
import { address } from '../../api/http.ts'
import { useSignedIn } from '../../api/session.ts'
import { type Usage, useUsage } from '../../api/usage.ts'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { Failure } from '../../ui/failure.tsx'
import { useNow } from '../../ui/now.ts'
import { Page } from '../../ui/page.tsx'
import { barSpanOf, readersTimeZone, stepOf } from '../../ui/ranges.ts'
import { SpendingList } from '../../ui/spending-list.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { groupColor } from './colors.ts'
import { GroupTable } from './group-table.tsx'
import { amountOf, formatOf, groupTotals, METRICS, metricOf } from './metrics.ts'
import { StackedChart } from './stacked-chart.tsx'
import { Totals } from './totals.tsx'
import { type UsageFilters, UsageFiltersBar } from './usage-filters.tsx'

const DEFAULTS: UsageFilters = { range: '7d', from: '', to: '', group: 'model', tag: 'team', account_id: '', metric: 'requests' }

/** Usage over time, by group. */
export function UsagePage() {
  const [filters, setFilters] = useFilters(DEFAULTS)
  const now = useNow()
  const { account, gateway } = useSignedIn()
  const { timeZone, ...span } = barSpanOf(filters, now, gateway.usage_hours_seconds * 1000)
  const query = {
    ...span,
    ...(timeZone !== undefined && { time_zone: timeZone }),
    step: stepOf(span, now),
    group: filters.group === 'tag' ? `tag:${filters.tag || DEFAULTS.tag}` : filters.group,
    account_id: filters.account_id,
  }
  const { data, error, refetch, isPlaceholderData } = useUsage(query)
  return (
    <Page
      title="Usage"
      about={`Calls, tokens and costs over time. ${zoneOf(query.step, timeZone)}`}
      actions={
        <Button
          component="a"
          href={address('/usage.csv', query)}
          download
          variant="default"
          leftSection={<IconDownload size={16} />}
        >
          CSV
        </Button>
      }
    >
      <UsageFiltersBar filters={filters} onChange={setFilters} />
      <Stack>
        {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        <Totals totals={data?.totals} />
        <BudgetsLeft accountId={filters.account_id || account.id} />
        {data === undefined ? (
          error === null && <Skeleton h={420} />
        ) : (
          <Box opacity={isPlaceholderData ? 0.55 : 1}>
            {data.totals.requests === 0 ? (
              <NoUsage />
            ) : (
              <Chart usage={data} filters={filters} timeZone={timeZone ?? (data.step === 'day' ? 'UTC' : readersTimeZone())} />
            )}
          </Box>
        )}
      </Stack>
    </Page>
  )
}

/** What is left of the budgets of an account: of the chosen one, or else of the reader's own. */
function BudgetsLeft({ accountId }: { readonly accountId: string }) {
  const { data } = useAccount(accountId)
  if (data === undefined || data.spending.length === 0) return null
  return (
    <Paper withBorder p="md">
      <Text size="xs" c="dimmed">
        Budgets of {data.name}
      </Text>
      <SpendingList spending={data.spending} />
    </Paper>
  )
}

/** Which days are shown. */
const zoneOf = (step: 'hour' | 'day', timeZone: string | undefined): string =>
  step === 'day' && timeZone === undefined
    ? 'Days this long ago are counted in UTC.'
    : `Times are those of ${timeZone ?? readersTimeZone()}.`

interface ChartProps {
  readonly usage: Usage
  readonly filters: UsageFilters
  readonly timeZone: string
}

function Chart({ usage, filters, timeZone }: ChartProps) {
  const dark = useComputedColorScheme() === 'dark'
  const metric = metricOf(filters.metric)
  const { times, rows } = useMemo(() => {
    const totals = groupTotals(usage.groups.length, usage.series)
    return {
      times: usage.series.map(({ t }) => t),
      rows: usage.groups.map(({ name, label }, index) => ({
        name,
        label: labelOf(name, label, filters.group),
        color: groupColor(index, dark),
        totals: totals[index]!,
        values: usage.series.map(({ values }) => amountOf(values[index], metric)),
      })),
    }
  }, [usage, metric, dark, filters.group])
  const what = filters.group === 'tag' ? filters.tag : filters.group
  return (
    <Paper withBorder p="md">
      <StackedChart
        label={`${METRICS[metric]} per ${usage.step}, by ${what}; the table below has the numbers`}
        step={usage.step}
        timeZone={timeZone}
        times={times}
        format={formatOf(metric)}
        groups={rows}
      />
      <Box mt="md">
        <GroupTable rows={rows} what={what} />
      </Box>
    </Paper>
  )
}

/** What the calls without a value have in common. */
const WITHOUT: Readonly<Record<string, string>> = {
  model: 'No known model (refused before)',
  key: 'No valid key',
  account: 'No account',
  tag: 'Without this tag',
}

const labelOf = (name: string, label: string, group: string): string =>
  name === '' ? (WITHOUT[group] ?? label) : name === '*' ? 'All others' : label

function NoUsage() {
  return (
    <EmptyMessage
      icon={IconChartBar}
      title="No usage in this time range"
      action={
        <Button component={Link} to="/connect" variant="default" size="xs">
          Connect a client
        </Button>
      }
    >
      Choose a longer time range, or make a call: it appears here within seconds.
    </EmptyMessage>
  )
}
