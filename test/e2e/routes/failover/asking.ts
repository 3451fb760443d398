import type { IncomingHttpHeaders } from 'node:http'
import { expect } from 'chai'
import { rawHttp } from '../../../support/raw-http.ts'
import { ask } from '../../sdk/dialect.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import type { Pair } from './pair.ts'

/** A chat completion request; the rest of it is always the same. `model`: `<namespace>/<model>`. */
export type Request = { readonly model: string; readonly stream?: boolean; readonly [parameter: string]: unknown }

/** What a client hears. */
export interface Heard {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The error's code, where it is one. */
  readonly code: string | null
  /** False where the reply broke off. */
  readonly complete: boolean
}

const PATH = '/v1/chat/completions'

/** Asks for a completion, with the live key if no other. */
export async function call({ gateway }: Pair, request: Request, key = gateway.liveKey): Promise<Heard> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await rawHttp(gateway.url + PATH, { method: 'POST', headers, body: JSON.stringify(ask(openai, request)) })
  const text = await reply.text()
  const code = reply.status === 200 ? null : JSON.parse(text).error.code
  return { status: reply.status, headers: reply.headers, text, code, complete: reply.complete }
}

/** The number of tries that a call took, and who served it: `2 open-second`. */
export const servedBy = ({ headers }: Heard): string => `${headers['x-umg-attempts']} ${headers['x-umg-namespace']}`

/** Makes a call whose client leaves once `when` has resolved. Resolves when the call is settled. */
export async function leave({ gateway }: Pair, request: Request, when: () => Promise<unknown>): Promise<void> {
  const client = new AbortController()
  const id = `leaving-${gateway.log.length}`
  const headers = { 'x-client-request-id': id }
  const called = gateway
    .fetch(PATH, { json: ask(openai, request), signal: client.signal, headers })
    .then((reply) => reply.text())
    .catch(() => undefined)
  await when()
  client.abort()
  await called
  const line = await gateway.logged(({ clientRequestId }) => clientRequestId === id)
  expect(line).to.include({ status: 499, outcome: 'client_closed' })
}

/** The line of a target in `/readyz?verbose`, without its namespace and model. */
export async function healthOf({ gateway }: Pair, id: string): Promise<string> {
  const text = await (await gateway.fetch('/readyz?verbose')).text()
  const line = text.split('\n').find((each) => each.includes(` ${id}: `))
  return line === undefined ? expect.fail(`no ${id} in ${text}`) : line.replace(` ${id}:`, '')
}

/** Resolves when the line of a target looks like this. */
export async function untilHealth(pair: Pair, id: string, pattern: RegExp): Promise<void> {
  while (!pattern.test(await healthOf(pair, id)));
}

/** Resolves when so many calls to a namespace are under way. */
export async function untilInFlight({ gateway }: Pair, namespace: string, count: number): Promise<void> {
  while ((await gateway.metric('umg_requests_in_flight', { namespace })) !== count);
}
