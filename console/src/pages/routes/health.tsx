import { Text } from '@mantine/core'
import { StatusLabel, type Tone } from '../../ui/status-label.tsx'

/** The states of a breaker, for people. */
const STATES: Readonly<Record<string, { readonly label: string; readonly tone: Tone }>> = {
  closed: { label: 'Healthy', tone: 'good' },
  'half-open': { label: 'Being probed', tone: 'warning' },
  open: { label: 'Resting', tone: 'bad' },
}

/** How a target is doing. */
export function Health({ of: state }: { readonly of: unknown }) {
  if (typeof state !== 'string') return null
  const { label, tone } = STATES[state] ?? { label: state, tone: 'quiet' as const }
  return (
    <Text size="xs" component="span">
      <StatusLabel tone={tone}>{label}</StatusLabel>
    </Text>
  )
}
