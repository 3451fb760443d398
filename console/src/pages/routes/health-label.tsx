import { Text } from '@mantine/core'
import type { Health } from '../../api/operations.ts'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'

/** The labels of the states of a circuit breaker. */
const STATES: Readonly<Record<Health, { readonly label: string; readonly tone: Tone }>> = {
  closed: { label: 'Healthy', tone: 'good' },
  half_open: { label: 'Half-open', tone: 'warning' },
  open: { label: 'Circuit open', tone: 'bad' },
}

/** The health of a target. */
export function HealthLabel({ health }: { readonly health: Health }) {
  const { label, tone } = STATES[health]
  return (
    <Text size="xs" component="span">
      <StatusLabel tone={tone}>{label}</StatusLabel>
    </Text>
  )
}
