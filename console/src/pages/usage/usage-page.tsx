import { Box, Button, Paper, Skeleton, Stack, useComputedColorScheme } from '@mantine/core'
import { IconChartBar, IconDownload } from '@tabler/icons-react'
import { useMemo } from 'react'
import { Link } from 'react-router'
import { address } from '../../api/http.ts'
import { type Usage, useUsage } from '../../api/usage.ts'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { Failure } from '../../ui/failure.tsx'
import { useNow } from '../../ui/now.ts'
import { Page } from '../../ui/page.tsx'
import { spanOf, stepOf } from '../../ui/ranges.ts'
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
  const span = spanOf(filters, now)
  const query = {
    ...span,
    step: stepOf(span, now),
    group: filters.group === 'tag' ? `tag:${filters.tag || DEFAULTS.tag}` : filters.group,
    account_id: filters.account_id,
  }
  const { data, error, refetch, isPlaceholderData } = useUsage(query)
  return (
    <Page
      title="Usage"
      about="Calls, tokens and costs over time. Days are counted in UTC."
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
        {data === undefined ? (
          error === null && <Skeleton h={420} />
        ) : (
          <Box opacity={isPlaceholderData ? 0.55 : 1}>
            {data.totals.requests === 0 ? <NoUsage /> : <Chart usage={data} filters={filters} />}
          </Box>
        )}
      </Stack>
    </Page>
  )
}

function Chart({ usage, filters }: { readonly usage: Usage; readonly filters: UsageFilters }) {
  const dark = useComputedColorScheme() === 'dark'
  const metric = metricOf(filters.metric)
  const { times, rows } = useMemo(() => {
    const totals = groupTotals(usage.groups.length, usage.series)
    return {
      times: usage.series.map(({ t }) => t),
      rows: usage.groups.map(({ name, label }, index) => ({
        name,
        label,
        color: groupColor(index, dark),
        totals: totals[index]!,
        values: usage.series.map(({ values }) => amountOf(values[index], metric)),
      })),
    }
  }, [usage, metric, dark])
  const what = filters.group === 'tag' ? filters.tag : filters.group
  return (
    <Paper withBorder p="md">
      <StackedChart
        label={`${METRICS[metric]} per ${usage.step}, by ${what}; the table below has the numbers`}
        step={usage.step}
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
