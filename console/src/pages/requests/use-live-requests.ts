import { useEffect, useState } from 'react'
import { address } from '../../api/http.ts'
import type { RequestRow } from '../../api/requests.ts'

/** Older rows are dropped. */
const MAX_ROWS = 200

/** The live tail of calls, newest first. */
export interface LiveRequests {
  readonly rows: readonly RequestRow[]
  readonly connected: boolean
  /** The number of calls that were dropped because they came too fast. */
  readonly missed: number
}

/** Follows calls while it is mounted. The browser reconnects by itself. */
export function useLiveRequests(): LiveRequests {
  const [rows, setRows] = useState<readonly RequestRow[]>([])
  const [connected, setConnected] = useState(false)
  const [missed, setMissed] = useState(0)
  useEffect(() => {
    const source = new EventSource(address('/requests/live'))
    source.onopen = () => setConnected(true)
    source.onerror = () => setConnected(false)
    source.onmessage = ({ data }: MessageEvent<string>) =>
      setRows((before) => [JSON.parse(data) as RequestRow, ...before].slice(0, MAX_ROWS))
    source.addEventListener('missed', ({ data }: MessageEvent<string>) =>
      setMissed((before) => before + (JSON.parse(data) as { readonly calls: number }).calls),
    )
    return () => {
      source.close()
      setConnected(false)
    }
  }, [])
  return { rows, connected, missed }
}
