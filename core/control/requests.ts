import { Readable } from 'node:stream'
import { type Static, Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import { type CallFilter, findCall, findCalls, viewCalls } from '../usage/calls.ts'
import { callsAsCsv, callsAsJsonLines } from '../usage/exports.ts'
import { liveCalls } from '../usage/live.ts'
import { accountScope, type Caller } from './caller.ts'
import { fromTime, named, nullable, oneOf, page, pageQuery, record, time, usd } from './fields.ts'
import { type Operation, operation } from './operation.ts'
import type { ManagementServices } from './services.ts'

const fault = oneOf(['caller', 'policy', 'upstream', 'gateway'], 'Who caused a failure.')

const target = {
  namespace: Type.String(),
  model: Type.String({ description: 'Its name at the upstream.' }),
  provider: Type.String(),
  credential: Type.Optional(Type.String({ description: 'The name of the credential, if the namespace has several.' })),
}

const attemptSchema = Type.Object(
  {
    ...target,
    result: Type.String({ description: '`ok`, or the name of an error.' }),
    start: Type.Optional(
      Type.Number({ description: 'Milliseconds from the arrival of the request to its start; absent in old records.' }),
    ),
    ms: Type.Number(),
    status: Type.Optional(Type.Integer({ description: 'The status with which the upstream refused the request, if it did.' })),
  },
  { title: 'Attempt' },
)

const linkTimeSchema = Type.Object(
  {
    name: Type.String({ description: "The plugin's name." }),
    ms: Type.Number({ description: 'Its own time, without that of the links after it.' }),
    answered: Type.Optional(Type.Boolean({ description: 'True for the link that answered in place of an upstream.' })),
  },
  { title: 'LinkTime' },
)

const tokensSchema = Type.Object({
  input: Type.Integer(),
  output: Type.Integer(),
  cached: Type.Integer({ description: 'Part of `input`.' }),
  reasoning: Type.Integer({ description: 'Part of `output`.' }),
  estimated: Type.Boolean({ description: 'True if the upstream did not report them.' }),
})

const requestSchema = Type.Object(
  {
    id: Type.String({ description: "The reply's `x-request-id`." }),
    at: time('When it was received.'),
    key: nullable(named),
    account: nullable(named),
    endpoint: Type.String(),
    model: nullable(Type.String(), 'The requested model, aliases resolved; null if the call ended before it was known.'),
    alias: nullable(Type.String(), 'The alias that the client wrote; null if it wrote the id of the model.'),
    served: nullable(Type.Object(target), 'The target that served the reply.'),
    stream: Type.Boolean(),
    status: Type.Integer({ description: 'The HTTP status sent; 499 if the client left first.' }),
    outcome: Type.String(),
    fault: nullable(fault, 'Who caused the failure; null for a success.'),
    error: nullable(
      Type.Object({
        code: nullable(Type.String(), 'The `error.code` that the client received.'),
        row: Type.String({ description: "The error's name." }),
        message: nullable(Type.String(), 'What it means, without the words of this one call.'),
      }),
    ),
    attempts: Type.Array(attemptSchema),
    links: Type.Array(linkTimeSchema, { description: "The links that ran, in the chain's order." }),
    ms: Type.Object({
      total: Type.Number(),
      first_byte: nullable(Type.Number(), 'To the first byte of content.'),
      overhead: Type.Number({ description: "In the gateway itself, until the reply's head." }),
    }),
    tokens: nullable(tokensSchema),
    cost: nullable(
      Type.Object({
        usd,
        saved_usd: nullable(
          usd,
          'What tokens from a cache of the upstream would have cost more without it; null in old records.',
        ),
        price: Type.String({ description: 'The price that was applied: its source and version.' }),
      }),
      'What the tokens cost; null without tokens, and if no price of the model is known.',
    ),
    tags: record(Type.String()),
    trace_id: nullable(Type.String(), 'The trace that the call belongs to; null if calls are not traced.'),
  },
  { title: 'Request', description: 'A call, without its content. Durations are in milliseconds.' },
)

const requestQuery = Type.Object({
  from: Type.Optional(time('The earliest time.')),
  to: Type.Optional(time('The latest time, exclusive.')),
  q: Type.Optional(
    Type.String({ minLength: 1, maxLength: 100, description: 'The first characters of the id, or at least four of the last.' }),
  ),
  model: Type.Optional(
    Type.String({ maxLength: 300, description: 'The requested model: its id, or the alias that the client wrote.' }),
  ),
  key_id: Type.Optional(Type.String({ maxLength: 300 })),
  account_id: Type.Optional(Type.String({ maxLength: 300 })),
  status: Type.Optional(Type.Integer({ minimum: 100, maximum: 599 })),
  fault: Type.Optional(fault),
})

/** Records of calls: the list, one, the live tail, and exports. */
export const requestOperations: readonly Operation[] = [
  operation({
    method: 'GET',
    path: '/requests',
    access: 'member',
    records: 'data.read',
    summary: 'List calls, newest first',
    query: Type.Object({ ...requestQuery.properties, ...pageQuery }),
    reply: page(requestSchema),
    async handle({ caller, query }, { store }) {
      const { limit = 50, cursor } = query
      const calls = await findCalls(store, filterOf(caller, query), { limit: limit + 1, before: cursor })
      const data = await viewCalls(store, calls.slice(0, limit))
      return { data, next_cursor: calls.length > limit ? data.at(-1)!.id : null }
    },
  }),
  operation({
    method: 'GET',
    path: '/requests/live',
    access: 'member',
    records: 'data.read',
    summary: 'Stream calls as they end, as server-sent events',
    streams: 'text/event-stream',
    async handle({ caller, signal }, services) {
      return Readable.from(liveEvents(services, { account: accountScope(caller), signal }))
    },
  }),
  operation({
    method: 'GET',
    path: '/requests.csv',
    access: 'member',
    records: 'data.export',
    summary: 'Export all calls of the filter as CSV',
    query: requestQuery,
    streams: 'text/csv; charset=utf-8',
    async handle({ caller, query, setHeader }, { store }) {
      setHeader('content-disposition', 'attachment; filename="requests.csv"')
      return Readable.from(callsAsCsv(store, filterOf(caller, query)))
    },
  }),
  operation({
    method: 'GET',
    path: '/requests.jsonl',
    access: 'member',
    records: 'data.export',
    summary: 'Export all calls of the filter as JSON Lines',
    query: requestQuery,
    streams: 'application/jsonl; charset=utf-8',
    async handle({ caller, query, setHeader }, { store }) {
      setHeader('content-disposition', 'attachment; filename="requests.jsonl"')
      return Readable.from(callsAsJsonLines(store, filterOf(caller, query)))
    },
  }),
  operation({
    method: 'GET',
    path: '/requests/{id}',
    access: 'member',
    records: 'data.read',
    summary: 'Get a call',
    reply: requestSchema,
    async handle({ caller, params }, { store, recorder }) {
      // A call is written a moment after its reply: until then the recorder has it.
      const call = recorder.find(params.id) ?? (await findCall(store, params.id))
      const account = accountScope(caller)
      if (call === undefined || (account !== undefined && call.account_id !== account))
        throw new GatewayError('object_not_found', { values: { what: 'request' } })
      return (await viewCalls(store, [call]))[0]!
    },
  }),
]

function filterOf(caller: Caller, query: Static<typeof requestQuery>): CallFilter {
  const { from, to, q, model, key_id: key, account_id, status, fault } = query
  const account = accountScope(caller, account_id)
  return { account, from: fromTime(from), to: fromTime(to), q, model, key, status, fault }
}

/**
 * Calls as server-sent events, each as it ends, and a comment after a silence. The event `missed` counts the calls that a slow reader
 * did not receive. Ends when the reader leaves or the gateway shuts down.
 */
async function* liveEvents(
  { store, recorder }: ManagementServices,
  { account, signal }: { readonly account: string | undefined; readonly signal: AbortSignal },
): AsyncGenerator<string> {
  const until = AbortSignal.any([signal, recorder.ending])
  for await (const { calls, missed } of liveCalls(recorder, { account, signal: until })) {
    const events = (await viewCalls(store, calls)).map((call) => `data: ${JSON.stringify(call)}\n\n`)
    if (missed > 0) events.push(`event: missed\ndata: {"calls":${missed}}\n\n`)
    yield events.length === 0 ? ': nothing new\n\n' : events.join('')
  }
}
