import { Button, Group, Text } from '@mantine/core'
import { IconBroadcast, IconPlayerPauseFilled, IconPlayerPlayFilled } from '@tabler/icons-react'
import { useState } from 'react'
import { wholeList } from '../../api/list.ts'
import type { RequestRow } from '../../api/requests.ts'
import { EmptyMessage } from '../../ui/empty-message.tsx'
import { StatusLabel } from '../../ui/status-label.tsx'
import { RequestTable } from './request-table.tsx'
import { useLiveRequests } from './use-live-requests.ts'

const STILL = { error: null, refetch: () => {} }

/** Calls as they end. While paused, the rows do not change, and new ones are counted. */
export function LiveTail() {
  const { rows, connected, missed } = useLiveRequests()
  const [frozen, setFrozen] = useState<readonly RequestRow[]>()
  const waiting = frozen === undefined ? 0 : rows.findIndex(({ id }) => id === frozen[0]?.id)
  return (
    <>
      <Group justify="space-between" mb="md" mih={30}>
        <Text size="sm" component="div">
          <StatusLabel tone={connected ? 'good' : 'warning'}>{connected ? 'Following' : 'Connecting…'}</StatusLabel>
        </Text>
        <Group gap="sm">
          {missed > 0 && (
            <Text size="sm" c="dimmed">
              {missed} not shown: too many at once
            </Text>
          )}
          {frozen !== undefined && (
            <Text size="sm" c="dimmed">
              {waiting < 0 ? rows.length : waiting} new
            </Text>
          )}
          <Button
            size="xs"
            variant="default"
            leftSection={frozen === undefined ? <IconPlayerPauseFilled size={14} /> : <IconPlayerPlayFilled size={14} />}
            onClick={() => setFrozen(frozen === undefined ? rows : undefined)}
          >
            {frozen === undefined ? 'Pause' : 'Resume'}
          </Button>
        </Group>
      </Group>
      <RequestTable
        list={wholeList(STILL, frozen ?? rows)}
        empty={
          <EmptyMessage icon={IconBroadcast} title="Waiting for calls">
            A call appears here when it ends.
          </EmptyMessage>
        }
      />
    </>
  )
}
