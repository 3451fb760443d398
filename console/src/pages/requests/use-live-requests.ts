import { useEffect, useState } from 'react'
import { address } from '../../api/http.ts'
import type { RequestRow } from '../../api/requests.ts'

/** Older rows leave at the end. */
const MOST_ROWS = 200

/** The tail of calls as they settle, the newest first. */
export interface LiveRequests {
  readonly rows: readonly RequestRow[]
  readonly connected: boolean
}

/** Follows the calls while `on`. The browser connects again by itself. */
export function useLiveRequests(on: boolean): LiveRequests {
  const [rows, setRows] = useState<readonly RequestRow[]>([])
  const [connected, setConnected] = useState(false)
  useEffect(() => {
    if (!on) return
    const source = new EventSource(address('/requests/live'))
    source.onopen = () => setConnected(true)
    source.onerror = () => setConnected(false)
    source.onmessage = ({ data }: MessageEvent<string>) =>
      setRows((before) => [JSON.parse(data) as RequestRow, ...before].slice(0, MOST_ROWS))
    return () => {
      source.close()
      setConnected(false)
    }
  }, [on])
  return { rows, connected }
}
