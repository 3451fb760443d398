import { randomUUID } from 'node:crypto'

/**
 * A new request id: `req_`, 12 hexadecimal digits of the time, 20 of chance (74 bits), as in a UUID of version 7. Ids of calls stand in
 * the order in which they came, so that a stretch of time is a stretch of ids.
 */
export function newRequestId(): string {
  return firstRequestId(Date.now()) + randomUUID().replaceAll('-', '').slice(12)
}

/** Less than every id of this time (ms since 1970) and later, and more than every one before. */
export function firstRequestId(time: number): string {
  return `req_${Math.max(time, 0).toString(16).padStart(12, '0')}`
}

/** When a request came, by its id. */
export function timeOfRequest(id: string): number {
  return Number.parseInt(id.slice(4, 16), 16)
}
