import { once } from 'node:events'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import type { CallsTable } from '../store/schema.ts'
import { type CallFilter, type CallView, findCall, findCalls, viewCalls } from '../usage/calls.ts'
import { callsAsCsv, callsAsJsonLines } from '../usage/exports.ts'
import { type StoreIo, type StoreOptions, withStore, writeJson, writeTable } from './store.ts'

/** What `umg requests list` takes. */
export interface ListRequestsOptions extends StoreOptions, CallFilter {
  /** How the ids begin. */
  readonly id?: string
  readonly format: 'table' | 'csv' | 'jsonl'
  /** Of a table; the others hold all. */
  readonly limit: number
}

/** `umg requests list`, the newest first. Resolves to the exit code. */
export async function listRequestsCommand(
  { id: q, format, limit, ...options }: ListRequestsOptions,
  io: StoreIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const filter = { ...options, q }
    if (format === 'csv') return writeAll(io, callsAsCsv(store, filter))
    if (format === 'jsonl') return writeAll(io, callsAsJsonLines(store, filter))
    const calls = await viewCalls(store, await findCalls(store, filter, { limit }))
    if (calls.length === 0) io.stderr.write('There are no such requests. A request is listed a second after its end.\n')
    else writeTable(io, [HEADINGS, ...calls.map(cells)])
  })
}

/** `umg requests show ID`. Resolves to the exit code. */
export async function showRequestCommand(
  { id, ...options }: StoreOptions & { readonly id: string },
  io: StoreIo,
): Promise<number> {
  return withStore(options, io, async (store) => {
    const [call] = await viewCalls(store, [await findOne(store, id)])
    if (options.json) writeJson(io, call)
    else writeTable(io, lines(call!))
  })
}

/** By its id, or by how that begins where no other does. */
async function findOne(store: Store, id: string): Promise<CallsTable> {
  const whole = await findCall(store, id)
  if (whole !== undefined) return whole
  const [first, second] = await findCalls(store, { q: id }, { limit: 2 })
  if (first === undefined) throw new GatewayError('object_not_found', { values: { what: 'request' } })
  if (second === undefined) return first
  throw new GatewayError('invalid_value', { param: 'id', values: { detail: 'the ids of several requests begin so' } })
}

const HEADINGS = ['ID', 'AT', 'KEY', 'MODEL', 'STATUS', 'OUTCOME', 'FAULT', 'MS', 'TOKENS']

const cells = ({ id, at, key, model, status, outcome, fault, ms, tokens }: CallView): string[] => [
  id,
  at,
  key?.name ?? '-',
  model ?? '-',
  String(status),
  outcome,
  fault ?? '-',
  String(Math.round(ms.total)),
  tokens === null ? '-' : `${tokens.input}+${tokens.output}`,
]

/** All that is known of a call, a line for each fact. */
function lines(call: CallView): [fact: string, text: string][] {
  const { key, account, served, error, ms, tokens, tags } = call
  return [
    ['id', call.id],
    ['at', call.at],
    ['key', key === null ? '-' : `${key.name} (${key.id})`],
    ['account', account === null ? '-' : `${account.name} (${account.id})`],
    ['endpoint', call.stream ? `${call.endpoint}, streamed` : call.endpoint],
    ['model', call.model ?? '-'],
    ['served by', served === null ? '-' : `${served.namespace}/${served.model} (${served.provider})`],
    ['status', `${call.status}, ${call.outcome}`],
    ['fault', call.fault ?? '-'],
    ['error', error === null ? '-' : error.row],
    ...call.links.map(({ name, ms: took }, number): [string, string] => [`link ${number + 1}`, `${name}: ${took} ms`]),
    ...call.attempts.map(({ namespace, model, result, ms: took }, number): [string, string] => [
      `attempt ${number + 1}`,
      `${namespace}/${model}: ${result}, ${took} ms`,
    ]),
    ['time', `${ms.total} ms, ${ms.overhead} ms of it in the gateway`],
    ['first byte', ms.first_byte === null ? '-' : `after ${ms.first_byte} ms`],
    ['tokens', tokens === null ? '-' : tokenText(tokens)],
    ...Object.entries(tags).map(([tag, value]): [string, string] => [`tag ${tag}`, value]),
  ]
}

function tokenText({ input, output, cached, reasoning, estimated }: NonNullable<CallView['tokens']>): string {
  return `${input} in (${cached} cached), ${output} out (${reasoning} reasoning)${estimated ? ', estimated' : ''}`
}

/** Writes a text that comes in pieces, each when the reader has taken the one before. */
export async function writeAll({ stdout }: StoreIo, pieces: AsyncIterable<string>): Promise<void> {
  for await (const piece of pieces) if (stdout.write(piece) === false) await once(stdout as NodeJS.WriteStream, 'drain')
}
