import { useEffect, useState } from 'react'
import { address } from '../../api/http.ts'
import type { RequestRow } from '../../api/requests.ts'

/** Older rows leave at the end. */
const MAX_ROWS = 200

/** The tail of calls as they settle, the newest first. */
export interface LiveRequests {
  readonly rows: readonly RequestRow[]
  readonly connected: boolean
  /** Calls that came too fast to be told one by one. */
  readonly missed: number
}

/** Follows the calls while the page shows them. The browser connects again by itself. */
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
