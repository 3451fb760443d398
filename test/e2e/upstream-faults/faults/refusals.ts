import { head, hold, json, reply, type Step } from '../../../../core/testing/kit.ts'
import type { Dialect } from '../../sdk/dialect.ts'
import { CANARY, type Fault } from '../assertions.ts'
import {
  AUTHENTICATION,
  ERROR,
  type Failure,
  INVALID,
  OVERLOADED,
  QUOTA,
  RATE_LIMITED,
  rejected,
  unknownModel,
} from '../failures.ts'

/** A refusal in the dialect's own words: those that reach the client do so without the address in them. */
const refusing =
  (status: number, headers: Record<string, string> = {}) =>
  ({ error }: Dialect): Step[] =>
    json(error(status, `Look at http://${CANARY}:8000/v1 for more.`), { status, headers })

/** A refusal by its status. */
export const answering = (status: number, failure: Failure): Fault => ({
  name: `answers ${status}`,
  script: refusing(status),
  failure,
  ...(failure === RATE_LIMITED && { retryAfter: '1' }),
})

const redirecting = (status: number): Fault => ({
  name: `redirects by ${status}`,
  script: () => [head(status, { location: `/v1/${CANARY}`, 'content-length': '0' })],
  failure: INVALID,
})

/** How the client is told when to come back. */
const waiting = (name: string, headers: () => Record<string, string>, retryAfter: string): Fault => ({
  name: `answers 429 and ${name}`,
  script: (dialect) => refusing(429, headers())(dialect),
  failure: RATE_LIMITED,
  retryAfter,
})

const inSeconds = (seconds: number): string => new Date(Date.now() + seconds * 1000).toUTCString()

export const REFUSALS: readonly Fault[] = [
  redirecting(307),
  ...[400, 413, 422].map((status) => answering(status, rejected(status))),
  ...[401, 403].map((status) => answering(status, AUTHENTICATION)),
  answering(404, unknownModel),
  ...[408, 409, 425].map((status) => answering(status, OVERLOADED)),
  answering(402, QUOTA),
  answering(429, RATE_LIMITED),
  answering(500, ERROR),
  ...[503, 529].map((status) => answering(status, OVERLOADED)),
  {
    name: 'answers 500 with a web page',
    script: () => reply([`<h1>${CANARY}</h1>`], { status: 500, headers: { 'content-type': 'text/html' } }),
    failure: ERROR,
  },
  { name: 'answers 503 with an empty body', script: () => reply([], { status: 503 }), failure: OVERLOADED },
  {
    name: 'answers 429 with an endless body',
    script: () => [head(429, { 'content-type': 'text/plain' }), 'x'.repeat(1 << 20), hold()],
    failure: RATE_LIMITED,
    retryAfter: '1',
  },
]

/** Faults that take another way than their kin, but none of their own for streams. */
export const MORE_REFUSALS: readonly Fault[] = [
  ...[301, 302, 303, 308].map(redirecting),
  waiting('says nothing more', () => ({}), '1'),
  waiting('names 7 seconds', () => ({ 'retry-after': '7' }), '7'),
  waiting('names half a second', () => ({ 'retry-after': '0.5' }), '1'),
  waiting('names 2,500 ms', () => ({ 'retry-after-ms': '2500' }), '3'),
  waiting('names a date to come', () => ({ 'retry-after': inSeconds(3600) }), '60'),
  waiting('names a date gone by', () => ({ 'retry-after': inSeconds(-3600) }), '1'),
  waiting('names less than nothing', () => ({ 'retry-after': '-5' }), '1'),
  waiting('names a year', () => ({ 'retry-after': '31536000' }), '60'),
  waiting('names no time at all', () => ({ 'retry-after': 'soon' }), '1'),
  ...[502, 504, 507].map((status) => answering(status, ERROR)),
]
