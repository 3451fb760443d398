import type { Store } from '../store/database.ts'
import { type CallView, viewCalls } from './call-view.ts'
import { type Cell, csvLine } from './csv.ts'
import { allCalls, type CallFilter } from './find-calls.ts'

const COLUMNS: Readonly<Record<string, (call: CallView) => Cell>> = {
  id: ({ id }) => id,
  at: ({ at }) => at,
  account_id: ({ account }) => account?.id,
  account: ({ account }) => account?.name,
  key_id: ({ key }) => key?.id,
  key: ({ key }) => key?.name,
  endpoint: ({ endpoint }) => endpoint,
  model: ({ model }) => model,
  served_namespace: ({ served }) => served?.namespace,
  served_model: ({ served }) => served?.model,
  served_provider: ({ served }) => served?.provider,
  attempts: ({ attempts }) => attempts.length,
  links: ({ links }) => JSON.stringify(links),
  stream: ({ stream }) => stream,
  status: ({ status }) => status,
  outcome: ({ outcome }) => outcome,
  fault: ({ fault }) => fault,
  error: ({ error }) => error?.row,
  error_code: ({ error }) => error?.code,
  total_ms: ({ ms }) => ms.total,
  first_byte_ms: ({ ms }) => ms.first_byte,
  overhead_ms: ({ ms }) => ms.overhead,
  input_tokens: ({ tokens }) => tokens?.input,
  output_tokens: ({ tokens }) => tokens?.output,
  cached_tokens: ({ tokens }) => tokens?.cached,
  reasoning_tokens: ({ tokens }) => tokens?.reasoning,
  estimated: ({ tokens }) => tokens?.estimated,
  tags: ({ tags }) => JSON.stringify(tags),
}

/** Calls as CSV with a heading, newest first, a piece at a time. */
export async function* callsAsCsv(store: Store, filter: CallFilter): AsyncGenerator<string> {
  const cells = Object.values(COLUMNS)
  yield csvLine(Object.keys(COLUMNS))
  for await (const page of allCalls(store, filter)) {
    const calls = await viewCalls(store, page)
    yield calls.map((call) => csvLine(cells.map((cell) => cell(call)))).join('')
  }
}

/** Calls as JSON Lines, newest first, a piece at a time. */
export async function* callsAsJsonLines(store: Store, filter: CallFilter): AsyncGenerator<string> {
  for await (const page of allCalls(store, filter)) {
    const calls = await viewCalls(store, page)
    yield calls.map((call) => `${JSON.stringify(call)}\n`).join('')
  }
}
