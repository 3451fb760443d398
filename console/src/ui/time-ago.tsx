import { Tooltip } from '@mantine/core'
import { useNow } from './now.ts'
import { absoluteTime, timeAgo } from './time-words.ts'

/** A time. Null: shows `never`. */
export interface TimeAgoProps {
  readonly at: string | null | undefined
  readonly never?: string
  /** It may lie in the future. Any other time has passed, even if this computer's clock is behind the gateway's. */
  readonly planned?: boolean
}

/** A relative time, with the exact time on hover. */
export function TimeAgo({ at, never = 'Never', planned = false }: TimeAgoProps) {
  const now = Math.max(useNow(), Date.now())
  if (at == null) return never
  return (
    <Tooltip label={absoluteTime(at)}>
      <time dateTime={at}>{timeAgo(at, planned ? now : Math.max(now, Date.parse(at)))}</time>
    </Tooltip>
  )
}
