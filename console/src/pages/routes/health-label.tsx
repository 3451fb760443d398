import { Text } from '@mantine/core'
import type { Health, LastCall } from '../../api/operations.ts'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'

interface State {
  readonly label: string
  readonly tone: Tone
}

/** The labels of the states of a circuit breaker that keeps calls off. */
const STATES: Readonly<Record<Exclude<Health, 'closed'>, State>> = {
  half_open: { label: 'Half-open', tone: 'warning' },
  open: { label: 'Circuit open', tone: 'bad' },
}

/** A closed breaker says that few calls have failed, or that there were none: only a call says more. */
function closed(lastCall: LastCall | undefined): State {
  if (lastCall === undefined) return { label: 'No calls yet', tone: 'quiet' }
  return lastCall === 'failed' ? { label: 'Last call failed', tone: 'warning' } : { label: 'Healthy', tone: 'good' }
}

/** The health of a target. */
export function HealthLabel({ health, lastCall }: { readonly health: Health; readonly lastCall: LastCall | undefined }) {
  const { label, tone } = health === 'closed' ? closed(lastCall) : STATES[health]
  return (
    <Text size="xs" component="span">
      <StatusLabel tone={tone}>{label}</StatusLabel>
    </Text>
  )
}
