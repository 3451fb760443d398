import { Text } from '@mantine/core'
import type { DiscoveryError, LastError, RecentAttempts } from '../../api/operations.ts'
import { exactly } from '../../ui/numbers.ts'
import { StatusLabel } from '../../ui/status-label.tsx'
import { TimeAgo } from '../../ui/time-ago.tsx'
import { hourTime } from '../../ui/time-words.ts'
import styles from './lane-view.module.css'

/** What is known of the failures of a target: how many of its attempts, and the last one. Nothing, if none has failed. */
export function Evidence({ recent, lastError }: { readonly recent?: RecentAttempts; readonly lastError?: LastError }) {
  if (lastError === undefined) return null
  const rate = recent && recent.failures > 0 && rateOf(recent)
  const { at, code, message, status } = lastError
  const words = `${message ?? code}${status === undefined ? '' : ` (status ${status})`}`
  return (
    <Text size="xs" c="dimmed" className={styles.evidence} title={[rate, words].filter(Boolean).join(' ')}>
      {rate} Last error <TimeAgo at={at} />: {words}
    </Text>
  )
}

const rateOf = ({ attempts, failures, since }: RecentAttempts): string =>
  `${exactly(failures)} of ${exactly(attempts)} failed since ${hourTime(since)}.`

/** That the models of a namespace could not be listed, and why: `ECONNREFUSED`. */
export function DiscoveryFailure({ error: { at, cause } }: { readonly error: DiscoveryError }) {
  return (
    <Text size="xs" component="div">
      <StatusLabel tone="warning">Models not listed</StatusLabel>{' '}
      <Text size="xs" c="dimmed" span>
        {cause}, <TimeAgo at={at} />
      </Text>
    </Text>
  )
}
