/** Counts of events: `attempt openai-compatible ok`, `call open 200 ok`, `abort upstream`, `fallback a/m b/m upstream_error`. */
export type Counters = Readonly<Record<string, number>>

const SERIES = [
  ['attempt', /^umg_upstream_attempts_total\{namespace=".*",provider="(?<who>.*)",result="(?<how>.*)"\} (?<count>\d+)$/gm],
  ['call', /^umg_requests_total\{namespace="(?<who>.*)",model=".*",code="(?<status>.*)",outcome="(?<how>.*)"\} (?<count>\d+)$/gm],
  ['fallback', /^umg_fallbacks_total\{.*,from="(?<who>.*)",to="(?<status>.*)",reason="(?<how>.*)"\} (?<count>\d+)$/gm],
  ['abort', /^umg_stream_aborts_total\{side="(?<who>.*)"\} (?<count>\d+)$/gm],
] as const

/** Reads the counters from the text of `/metrics`. */
export function readCounters(metrics: string): Counters {
  const counters: Record<string, number> = {}
  for (const [kind, pattern] of SERIES) {
    for (const { groups } of metrics.matchAll(pattern)) {
      const { who, status, how, count } = groups!
      const key = [kind, who, status, how].filter((word) => word !== undefined).join(' ')
      counters[key] = (counters[key] ?? 0) + Number(count)
    }
  }
  return counters
}

/** The counters that rose, and by how much. */
export function risen(before: Counters, after: Counters): Counters {
  const rises = Object.entries(after).map(([key, count]) => [key, count - (before[key] ?? 0)] as const)
  return Object.fromEntries(rises.filter(([, rise]) => rise !== 0))
}
