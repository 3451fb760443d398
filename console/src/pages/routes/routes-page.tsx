import { Paper, Skeleton } from '@mantine/core'
import { useRoutes } from '../../api/operations.ts'
import { Failure } from '../../ui/failure.tsx'
import { Page } from '../../ui/page.tsx'
import { LaneView } from './lane-view.tsx'
import { lanesOf } from './lanes.ts'

/** The routing table as a graph: from the names that clients use to the targets, with their health. */
export function RoutesPage() {
  const { data, error, refetch } = useRoutes()
  return (
    <Page
      title="Routes"
      about="From the model that a client requests to the targets that serve it. A line's width is the target's share of the calls; dashed lines are fallbacks."
    >
      {error !== null && data === undefined && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton h={420} />}
      {data !== undefined && (
        <Paper withBorder px="md" py="xs">
          {lanesOf(data).map((lane) => (
            <LaneView key={lane.name} lane={lane} />
          ))}
        </Paper>
      )}
    </Page>
  )
}
