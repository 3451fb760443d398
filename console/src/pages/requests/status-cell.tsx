import { Group, Text } from '@mantine/core'
import type { Fault, RequestRow } from '../../api/requests.ts'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'

/** The labels of faults. */
export const FAULTS: Readonly<Record<Fault, { readonly label: string; readonly tone: Tone }>> = {
  caller: { label: 'Caller', tone: 'warning' },
  policy: { label: 'Policy', tone: 'warning' },
  upstream: { label: 'Upstream', tone: 'bad' },
  gateway: { label: 'Gateway', tone: 'bad' },
}

/** The status of a call, and the fault of a failure. */
export function StatusCell({ row: { status, fault } }: { readonly row: Pick<RequestRow, 'status' | 'fault'> }) {
  if (fault === null) return <StatusLabel tone={status < 400 ? 'good' : 'warning'}>{status}</StatusLabel>
  const { label, tone } = FAULTS[fault]
  return (
    <Group gap={6} wrap="nowrap" component="span">
      <StatusLabel tone={tone}>{status}</StatusLabel>
      <Text size="xs" c="dimmed" span>
        {label}
      </Text>
    </Group>
  )
}
