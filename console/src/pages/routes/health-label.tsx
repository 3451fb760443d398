import { Text } from '@mantine/core'
import type { Health } from '../../api/operations.ts'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'

/** The states of a breaker, for people. */
const STATES: Readonly<Record<Health, { readonly label: string; readonly tone: Tone }>> = {
  closed: { label: 'Healthy', tone: 'good' },
  half_open: { label: 'Half-open', tone: 'warning' },
  open: { label: 'Circuit open', tone: 'bad' },
}

/** How a target is doing. */
export function HealthLabel({ health }: { readonly health: Health }) {
  const { label, tone } = STATES[health]
  return (
    <Text size="xs" component="span">
      <StatusLabel tone={tone}>{label}</StatusLabel>
    </Text>
  )
}
