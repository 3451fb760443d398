import { gzipSync } from 'node:zlib'
import { chunk, FIN, head, json, RST, reply, type Step, sse } from '../../../../core/testing/kit.ts'
import type { Dialect } from '../../sdk/dialect.ts'
import { CANARY, type Fault } from '../assertions.ts'
import { AUTHENTICATION, DISCONNECTED, INVALID, QUOTA, RATE_LIMITED } from '../failures.ts'

const JSON_TYPE = { 'content-type': 'application/json' }
const CHUNKED = { ...JSON_TYPE, 'transfer-encoding': 'chunked' }

/** A completion that says the canary. */
const completion = ({ whole }: Dialect): string => JSON.stringify(whole({ text: [CANARY] }))

/** A completion up to and without its last byte. */
const cutCompletion = (dialect: Dialect): string => completion(dialect).slice(0, -1)

const jsonText = (text: string | Buffer, headers: Record<string, string | string[]> = {}): Step[] =>
  reply([text], { headers: { ...JSON_TYPE, ...headers } })

/** One error as each of the two dialects would send it. */
const errorOf = (type: string, code?: string) => () =>
  json({ type: 'error', error: { type, message: CANARY, param: null, code: code ?? null } })

/** More than the gateway reads of a reply. */
const TOO_MUCH = Buffer.alloc((64 << 20) + 1, ' ')

/** Faults of a body that is no stream. A client that asked for one is told in the same way. */
export const BAD_REPLIES: readonly Fault[] = [
  {
    name: 'closes within a reply of known length',
    script: (dialect) => [head(200, { ...JSON_TYPE, 'content-length': '9999' }), completion(dialect), FIN],
    failure: DISCONNECTED,
  },
  {
    name: 'resets within a reply of known length',
    script: (dialect) => [head(200, { ...JSON_TYPE, 'content-length': '9999' }), completion(dialect), RST],
    failure: DISCONNECTED,
  },
  { name: 'closes before the last chunk', script: (d) => [head(200, CHUNKED), chunk(completion(d)), FIN], failure: DISCONNECTED },
  { name: 'resets before the last chunk', script: (d) => [head(200, CHUNKED), chunk(completion(d)), RST], failure: DISCONNECTED },
  { name: 'sends a chunk without a size', script: (d) => [head(200, CHUNKED), `zz\r\n${completion(d)}`], failure: INVALID },
  {
    name: 'closes within a reply that only its close ends',
    script: (d) => reply([cutCompletion(d)], { headers: JSON_TYPE, framing: 'close' }),
    failure: DISCONNECTED,
  },
  { name: 'sends JSON that breaks off', script: (dialect) => jsonText(cutCompletion(dialect)), failure: INVALID },
  { name: 'sends no JSON', script: () => jsonText(CANARY), failure: INVALID },
  { name: 'answers 204', script: () => [head(204)], failure: INVALID },
  { name: 'answers 304', script: () => [head(304)], failure: INVALID },
  { name: 'answers 200 with an empty body', script: () => jsonText(''), failure: INVALID },
  {
    name: 'answers with a web page',
    script: () => reply([`<h1>${CANARY}</h1>`], { headers: { 'content-type': 'text/html; charset=utf-8' } }),
    failure: INVALID,
  },
  {
    name: 'sends a rate limit error with status 200',
    script: errorOf('rate_limit_error', 'rate_limit_exceeded'),
    failure: RATE_LIMITED,
    retryAfter: '1',
  },
  { name: 'sends a credential error with status 200', script: errorOf('authentication_error'), failure: AUTHENTICATION },
  { name: 'sends a quota error with status 200', script: errorOf('billing_error', 'insufficient_quota'), failure: QUOTA },
  {
    name: 'declares a compression that it did not apply',
    script: (dialect) => jsonText(completion(dialect), { 'content-encoding': 'gzip' }),
    failure: INVALID,
  },
  {
    name: 'sends a truncated compressed body',
    script: (d) => jsonText(gzipSync(completion(d)).subarray(0, -9), { 'content-encoding': 'gzip' }),
    failure: INVALID,
  },
  {
    name: 'compresses twice',
    script: (d) => jsonText(gzipSync(gzipSync(completion(d))), { 'content-encoding': 'gzip, gzip' }),
    failure: INVALID,
  },
  {
    name: 'compresses twice and declares it in two headers',
    script: (d) => jsonText(gzipSync(gzipSync(completion(d))), { 'content-encoding': ['gzip', 'gzip'] }),
    failure: INVALID,
  },
  {
    name: 'uses a compression that was not requested',
    script: (dialect) => jsonText(completion(dialect), { 'content-encoding': 'constructor' }),
    failure: INVALID,
  },
  { name: 'sends JSON that is not an object', script: () => json([CANARY]), failure: INVALID },
  { name: 'sends an object that is not a completion', script: () => json({ hello: CANARY }), failure: INVALID },
  { name: 'sends no choices', script: () => json({ type: 'message', choices: [], content: null }), failure: INVALID },
  { name: 'sends invalid choices', script: () => json({ type: 'message', choices: CANARY, content: 1 }), failure: INVALID },
]

/** Faults of many bytes: one dialect is enough. */
export const FLOODS: readonly Fault[] = [
  { name: "sends more than the gateway's limit", script: () => jsonText(TOO_MUCH), failure: INVALID },
  {
    name: 'sends a compression bomb',
    script: () => jsonText(gzipSync(TOO_MUCH, { level: 1 }), { 'content-encoding': 'gzip' }),
    failure: INVALID,
  },
]

/** What a stream is no answer to, and a whole reply no stream. */
export const MISMATCHES: readonly (Fault & { readonly stream: boolean })[] = [
  {
    name: 'streams instead of a whole reply',
    stream: false,
    script: ({ events }) => sse(events({ text: [CANARY] })),
    failure: INVALID,
  },
  {
    name: 'sends a whole reply instead of a stream',
    stream: true,
    script: ({ whole }) => json(whole({ text: [CANARY] })),
    failure: INVALID,
  },
]
