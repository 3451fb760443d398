import { Button, Menu } from '@mantine/core'
import { IconActivity, IconBroadcast, IconDownload, IconPlayerStopFilled } from '@tabler/icons-react'
import { Link, useLocation, useNavigate, useParams } from 'react-router'
import { address } from '../../api/http.ts'
import { useRequests } from '../../api/requests.ts'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { useNow } from '../../ui/now.ts'
import { Page } from '../../ui/page.tsx'
import { spanOf } from '../../ui/ranges.ts'
import { useFilters } from '../../ui/use-filters.ts'
import { LiveTail } from './live-tail.tsx'
import { RequestDrawer } from './request-drawer.tsx'
import { RequestFiltersBar, type RequestsFilters } from './request-filters.tsx'
import { type FROM_LIST, RequestTable } from './request-table.tsx'

const DEFAULTS: RequestsFilters = {
  range: '24h',
  from: '',
  to: '',
  q: '',
  model: '',
  key_id: '',
  account_id: '',
  fault: '',
  live: '',
}

/** Calls: the filtered list or the live tail, and the details of one call. */
export function RequestsPage() {
  const [filters, setFilters] = useFilters(DEFAULTS)
  const { id } = useParams()
  const { search, state } = useLocation()
  const navigate = useNavigate()
  const live = filters.live !== ''
  /** Leaves no entry behind that would open the details again. */
  function close(): void {
    if ((state as typeof FROM_LIST | null)?.fromList) void navigate(-1)
    else void navigate({ pathname: '/requests', search }, { replace: true })
  }
  return (
    <Page
      title="Requests"
      about="Every call, without its content: its key, model and upstream, how long it took, and who caused a failure."
      actions={
        <>
          <Button
            variant={live ? 'light' : 'default'}
            leftSection={live ? <IconPlayerStopFilled size={16} /> : <IconBroadcast size={16} />}
            aria-pressed={live}
            onClick={() => setFilters({ live: live ? '' : '1' })}
          >
            {live ? 'Stop live' : 'Live'}
          </Button>
          <ExportMenu filters={filters} />
        </>
      }
    >
      {live ? <LiveTail /> : <Recorded filters={filters} onChange={setFilters} />}
      {id !== undefined && <RequestDrawer id={id} onClose={close} />}
    </Page>
  )
}

interface RecordedProps {
  readonly filters: RequestsFilters
  readonly onChange: (changes: Partial<RequestsFilters>) => void
}

function Recorded({ filters, onChange }: RecordedProps) {
  const list = useRequests(queryOf(filters, useNow()))
  const filtered = [filters.q, filters.model, filters.key_id, filters.account_id, filters.fault].some((value) => value !== '')
  return (
    <>
      <RequestFiltersBar filters={filters} onChange={onChange} />
      <RequestTable list={list} empty={filtered ? <NoMatches /> : <NoneYet />} />
    </>
  )
}

/** A search by id ignores the time range. */
function queryOf({ q, model, key_id, account_id, fault, ...time }: RequestsFilters, now: number) {
  return { q, model, key_id, account_id, fault, ...(q === '' && spanOf(time, now)) }
}

function ExportMenu({ filters }: { readonly filters: RequestsFilters }) {
  const query = queryOf(filters, useNow())
  return (
    <Menu>
      <Menu.Target>
        <Button variant="default" leftSection={<IconDownload size={16} />}>
          Export
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Item component="a" href={address('/requests.csv', query)} download>
          CSV
        </Menu.Item>
        <Menu.Item component="a" href={address('/requests.jsonl', query)} download>
          JSON Lines
        </Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

function NoneYet() {
  return (
    <EmptyMessage
      icon={IconActivity}
      title="No calls in this time range"
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

function NoMatches() {
  return (
    <EmptyMessage icon={IconActivity} title="No matching calls">
      Search by a request id, or its first or last characters: it is the x-request-id header of the reply. Calls are kept for a
      limited time.
    </EmptyMessage>
  )
}
