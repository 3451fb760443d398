import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { type CallFilter, findCall, findCalls, viewCalls } from '../usage/calls.ts'
import { callsAsCsv, callsAsJsonLines } from '../usage/exports.ts'
import { liveCalls } from '../usage/live.ts'
import type { CallRecorder } from '../usage/recorder.ts'
import { accountSeenBy } from './accounts.ts'
import type { Caller } from './caller.ts'
import { fromTime, namedOrNull, page, pageQuery, time } from './fields.ts'
import { type Route, route } from './operation.ts'

/** Fields of the rows about calls. */

const textOrNull = (description: string) => Type.Union([Type.String(), Type.Null()], { description })
/** Whose doing something was. */
export const faultOf = Type.Enum(['caller', 'policy', 'upstream', 'gateway'])

const target = {
  namespace: Type.String(),
  model: Type.String({ description: 'What the upstream calls it.' }),
  provider: Type.String(),
}

/** A call, without its content. */
export const request = Type.Object({
  id: Type.String({ description: "The reply's `x-request-id`." }),
  at: time('When it came.'),
  key: namedOrNull,
  account: namedOrNull,
  endpoint: Type.String(),
  model: textOrNull('The model asked for, aliases resolved; null where the call ended before that was known.'),
  served: Type.Union([Type.Object(target), Type.Null()], { description: 'Who gave the reply.' }),
  stream: Type.Boolean(),
  status: Type.Integer({ description: 'The HTTP status sent; 499 where the client left first.' }),
  outcome: Type.String(),
  fault: Type.Union([faultOf, Type.Null()], { description: 'Whose doing it was that the call did not succeed.' }),
  error: Type.Union([
    Type.Object({ code: textOrNull('What the client read in `error.code`.'), row: Type.String({ description: 'Its name.' }) }),
    Type.Null(),
  ]),
  attempts: Type.Array(
    Type.Object({ ...target, result: Type.String({ description: '`ok`, or the name of an error.' }), ms: Type.Number() }),
  ),
  links: Type.Array(
    Type.Object({
      name: Type.String({ description: "The plugin's name." }),
      ms: Type.Number({ description: 'Of its own: what stands behind it in the chain is left out.' }),
    }),
    { description: "The links that had their turn, in the chain's order." },
  ),
  ms: Type.Object({
    total: Type.Number(),
    first_byte: Type.Union([Type.Number(), Type.Null()], { description: 'To the first byte of content.' }),
    overhead: Type.Number({ description: 'In the gateway itself, until the head of the reply.' }),
  }),
  tokens: Type.Union([
    Type.Object({
      input: Type.Integer(),
      output: Type.Integer(),
      cached: Type.Integer({ description: 'Of the input.' }),
      reasoning: Type.Integer({ description: 'Of the output.' }),
      estimated: Type.Boolean({ description: 'True where the upstream did not say them.' }),
    }),
    Type.Null(),
  ]),
  tags: Type.Record(Type.String(), Type.String()),
})

const filters = Type.Object({
  from: Type.Optional(time('Not before.')),
  to: Type.Optional(time('Before.')),
  q: Type.Optional(Type.String({ minLength: 1, maxLength: 100, description: 'How the id begins; `req_` may be left out.' })),
  model: Type.Optional(Type.String({ maxLength: 300, description: 'As the rows name it.' })),
  key_id: Type.Optional(Type.String({ maxLength: 300 })),
  account_id: Type.Optional(Type.String({ maxLength: 300 })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  fault: Type.Optional(faultOf),
})

function filterOf(caller: Caller, query: Static<typeof filters>): CallFilter {
  const { from, to, q, model, key_id: key, account_id, status, fault } = query
  const account = accountSeenBy(caller, account_id)
  return { account, from: fromTime(from), to: fromTime(to), q, model, key, status, fault }
}

/** Calls: the list, the look-up, the live tail, and files of them. */
export const requestRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/requests',
    role: 'member',
    summary: 'Calls, the newest first',
    query: Type.Object({ ...filters.properties, ...pageQuery }),
    reply: page(request),
    async handle({ caller, query }, { store }) {
      const { limit = 50, cursor } = query
      const calls = await findCalls(store, filterOf(caller, query), { limit: limit + 1, before: cursor })
      const data = await viewCalls(store, calls.slice(0, limit))
      return { data, next_cursor: calls.length > limit ? data.at(-1)!.id : null }
    },
  }),
  route({
    method: 'GET',
    path: '/requests/live',
    role: 'member',
    summary: 'Calls of this gateway as they end, as server-sent events',
    streams: 'text/event-stream',
    async handle({ caller, header, signal }, { store, recorder }) {
      // nginx would gather them.
      header('x-accel-buffering', 'no')
      return Readable.from(liveEvents({ store, recorder }, { account: accountSeenBy(caller), signal }))
    },
  }),
  route({
    method: 'GET',
    path: '/requests.csv',
    role: 'member',
    summary: 'The same calls as CSV, all of them',
    query: filters,
    streams: 'text/csv; charset=utf-8',
    async handle({ caller, query, header }, { store }) {
      header('content-disposition', 'attachment; filename="requests.csv"')
      return Readable.from(callsAsCsv(store, filterOf(caller, query)))
    },
  }),
  route({
    method: 'GET',
    path: '/requests.jsonl',
    role: 'member',
    summary: 'The same calls as JSON Lines, all of them',
    query: filters,
    streams: 'application/jsonl; charset=utf-8',
    async handle({ caller, query, header }, { store }) {
      header('content-disposition', 'attachment; filename="requests.jsonl"')
      return Readable.from(callsAsJsonLines(store, filterOf(caller, query)))
    },
  }),
  route({
    method: 'GET',
    path: '/requests/{id}',
    role: 'member',
    summary: 'One call',
    reply: request,
    async handle({ caller, params }, { store, recorder }) {
      // A call is looked for as soon as its reply is there, and written a moment later.
      const call = recorder.find(params.id) ?? (await findCall(store, params.id))
      const account = accountSeenBy(caller)
      if (call === undefined || (account !== undefined && call.account_id !== account))
        throw new GatewayError('object_not_found', { values: { what: 'request' } })
      return (await viewCalls(store, [call]))[0]!
    },
  }),
]

/** Where live calls come from. */
export interface LiveSource {
  readonly store: Store
  readonly recorder: CallRecorder
}

/**
 * Calls as server-sent events, each as it ends; a comment while there are none. `missed` tells how many a slow reader was not told
 * of. It ends when the reader leaves, and when the gateway does.
 */
export async function* liveEvents(
  { store, recorder }: LiveSource,
  { account, signal }: { readonly account: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const until = AbortSignal.any([signal, recorder.ending])
  for await (const { calls, missed } of liveCalls(recorder, { account, signal: until })) {
    const events = (await viewCalls(store, calls)).map((call) => `data: ${JSON.stringify(call)}\n\n`)
    if (missed > 0) events.push(`event: missed\ndata: {"calls":${missed}}\n\n`)
    yield events.length === 0 ? ': nothing new\n\n' : events.join('')
  }
}
