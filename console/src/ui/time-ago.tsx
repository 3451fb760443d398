import { Tooltip } from '@mantine/core'
import { useNow } from './now.ts'
import { absoluteTime, timeAgo } from './time-words.ts'

/** A relative time, with the exact time on hover. Null: shows `never`. */
export function TimeAgo({ at, never = 'Never' }: { readonly at: string | null | undefined; readonly never?: string }) {
  const now = useNow()
  if (at == null) return never
  return (
    <Tooltip label={absoluteTime(at)}>
      <time dateTime={at}>{timeAgo(at, now)}</time>
    </Tooltip>
  )
}
