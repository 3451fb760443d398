import { type Call, Secret, type UpstreamRequest } from '../plugin/api.ts'

/** Shorter values could stand anywhere, and hide nothing. */
const SHORTEST = 6

/**
 * What a request told its upstream that a client must not read: its host, and the values of the headers that the provider added to
 * the call's own. Upstreams quote what they refuse.
 */
export function privateValues(request: UpstreamRequest, call: Call): string[] {
  const own = call.headers
  const added = Object.entries(request.headers).filter(([name]) => !Object.hasOwn(own, name))
  return valuesSent(Object.fromEntries(added), request.origin)
}

/** The values of these headers, and the host that they were sent to. */
export function valuesSent(headers: UpstreamRequest['headers'], url: string): string[] {
  const values = Object.values(headers).map((value) => (value instanceof Secret ? value.reveal() : value))
  // `Bearer KEY` is quoted as KEY.
  const parts = values.flatMap((value) => [value, ...value.split(' ')])
  return [...parts, new URL(url).host].filter((value) => value.length >= SHORTEST)
}
