import type { Budget, Reservation } from 'unified-model-gateway/plugin'
import { goDuration } from './duration.ts'

/**
 * OpenAI's `x-ratelimit-{limit,remaining,reset}-{requests,tokens}` for the budgets that have a limit. `age`: milliseconds since the
 * reservation was made.
 */
export function rateHeaders({ requests, tokens }: Reservation, age: number): Record<string, string> {
  const headers: Record<string, string> = {}
  if (requests !== undefined) tell(headers, REQUESTS, requests, age)
  if (tokens !== undefined) tell(headers, TOKENS, tokens, age)
  return headers
}

interface Names {
  readonly limit: string
  readonly remaining: string
  readonly reset: string
}

const namesOf = (dimension: string): Names => ({
  limit: `x-ratelimit-limit-${dimension}`,
  remaining: `x-ratelimit-remaining-${dimension}`,
  reset: `x-ratelimit-reset-${dimension}`,
})
const REQUESTS = namesOf('requests')
const TOKENS = namesOf('tokens')

function tell(headers: Record<string, string>, names: Names, { limit, remaining, resetMs }: Budget, age: number): void {
  headers[names.limit] = String(limit)
  headers[names.remaining] = String(remaining)
  headers[names.reset] = goDuration(Math.max(0, resetMs - age))
}
