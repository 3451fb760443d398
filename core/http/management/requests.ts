import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { GatewayError } from '../../errors.ts'
import { callsAsCsv, callsAsJsonLines } from '../../usage/call-exports.ts'
import { viewCalls } from '../../usage/call-view.ts'
import { type CallFilter, findCall, findCalls } from '../../usage/find-calls.ts'
import type { Caller } from './caller.ts'
import { fromTime, page, pageQuery, time } from './fields.ts'
import { liveEvents } from './live-events.ts'
import { faultOf, request } from './request-fields.ts'
import { type Route, route } from './route.ts'
import { accountSeenBy } from './seen-account.ts'

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
