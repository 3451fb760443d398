import { Paper, Skeleton } from '@mantine/core'
import { IconRoute } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useShownPart, wholeList } from '../../api/list.ts'
import { useRoutes } from '../../api/operations.ts'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { Failure } from '../../ui/failure.tsx'
import { FilterBar } from '../../ui/filter-bar.tsx'
import { LoadMore } from '../../ui/load-more.tsx'
import { Page } from '../../ui/page.tsx'
import { SearchField } from '../../ui/search-field.tsx'
import { useFilters } from '../../ui/use-filters.ts'
import { LaneView } from './lane-view.tsx'
import { laneFits, lanesOf } from './lanes.ts'

/** The routing table as a graph: from the names that clients use to the targets, with their health. */
export function RoutesPage() {
  const [{ q }, setFilters] = useFilters({ q: '' })
  const query = useRoutes()
  const { data, error, refetch } = query
  const lanes = useMemo(() => data && lanesOf(data).filter((lane) => laneFits(lane, q)), [data, q])
  const list = useShownPart(wholeList(query, lanes))
  return (
    <Page
      title="Routes"
      about="From the model that a client requests to the targets that serve it. A line's width is the target's share of the calls; dashed lines are fallbacks."
    >
      <FilterBar>
        <SearchField label="Search models and targets" value={q} onSearch={(text) => setFilters({ q: text.trim() })} />
      </FilterBar>
      {error !== null && data === undefined && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton h={420} />}
      {list.rows?.length === 0 && (
        <EmptyMessage icon={IconRoute} title={q === '' ? 'No routes' : 'No matching routes'}>
          {q === ''
            ? 'Add a namespace to routes.yaml.'
            : 'Search by a part of a model id, of an alias, of a target or of a provider.'}
        </EmptyMessage>
      )}
      {list.rows !== undefined && list.rows.length > 0 && (
        <Paper withBorder px="md" py="xs">
          {list.rows.map((lane) => (
            <LaneView key={lane.name} lane={lane} />
          ))}
        </Paper>
      )}
      <LoadMore list={list} />
    </Page>
  )
}
