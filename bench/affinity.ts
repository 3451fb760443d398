/** `node bench/affinity.ts`: nanoseconds of a call for what names its conversation, and the order of three targets and two credentials by it. */

import type { IncomingHttpHeaders } from 'node:http'
import { CallAffinity } from '../core/dispatch/call-affinity.ts'
import { type CallContext, ClientCall, UNCOUNTED } from '../core/protocol/call.ts'
import { chatCompletions } from '../core/protocol/chat-completions.ts'
import { JsonBody } from '../core/protocol/json-body.ts'
import { drawn, hashOf, rankOf } from '../core/routing/affinity.ts'

const ID = '0199a213-81a0-7800-8aa1-bbab2a035a53'
const HEADERS = {
  host: 'gateway.internal',
  authorization: 'Bearer sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q',
  'content-type': 'application/json',
  'content-length': '48211',
  accept: 'text/event-stream',
  'user-agent': 'codex_cli_rs/0.140.0',
  originator: 'codex_cli_rs',
  'x-client-request-id': ID,
}
const TURNS = Array.from({ length: 200 }, (_, turn) => ({
  role: turn % 2 === 0 ? 'user' : 'assistant',
  content: 'Some text. '.repeat(25),
}))

const CASES: Readonly<Record<string, { readonly headers?: IncomingHttpHeaders; readonly body?: object }>> = {
  'the header of Claude Code': { headers: { 'x-claude-code-session-id': ID, 'x-claude-code-agent-id': 'agent-7' } },
  'the headers of Codex': { headers: { 'session-id': ID, 'thread-id': ID } },
  'the last header of the table': { headers: { 'x-openwebui-chat-id': ID } },
  'a member of a small body': { body: { prompt_cache_key: ID } },
  'a member of a large body': { body: { messages: TURNS, prompt_cache_key: ID } },
  'the user_id of Claude Code': {
    body: { metadata: { user_id: JSON.stringify({ device_id: 'd'.repeat(64), session_id: ID }) } },
  },
  nothing: {},
}

const PLACES = ['acme/smart east/m', 'acme/smart west/m', 'acme/smart spare/m', 'first', 'second']
const CALLS = 200_000
const ROUNDS = 7

for (const [name, { headers, body }] of Object.entries(CASES)) {
  const call = callOf({ model: 'acme/smart', messages: TURNS.slice(0, 1), ...body })
  const caller = { key: 'key_1', account: 'acct_2b7c', headers: { ...HEADERS, ...headers } }
  const times = Array.from({ length: ROUNDS }, () => nanoseconds(() => placeOf(call, caller)))
  process.stdout.write(`${String(Math.round(Math.min(...times))).padStart(6)} ns  ${name}\n`)
}

function nanoseconds(work: () => number): number {
  let sum = 0
  const begin = process.hrtime.bigint()
  for (let count = 0; count < CALLS; count++) sum += work()
  return Number.isNaN(sum) ? Number.NaN : Number(process.hrtime.bigint() - begin) / CALLS
}

function placeOf(call: ClientCall, caller: ConstructorParameters<typeof CallAffinity>[1]): number {
  const affinity = new CallAffinity(call, caller).by('session')
  if (affinity === undefined) return 0
  let best = 0
  for (const place of PLACES) best = Math.max(best, -rankOf(drawn(affinity.hash, hashOf(place)), 1))
  return best
}

function callOf(body: object): ClientCall {
  const context: CallContext = {
    id: 'req_bench',
    endpoint: chatCompletions.name,
    check: chatCompletions.check,
    resolve: (name) => ({ id: name, namespace: 'acme', model: 'smart' }),
    upstreamHeaders: {},
    memory: UNCOUNTED,
    decided: false,
  }
  return new ClientCall(context, JsonBody.read(Buffer.from(JSON.stringify(body)), context))
}
