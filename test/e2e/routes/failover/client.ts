import type { IncomingHttpHeaders } from 'node:http'
import { expect } from 'chai'
import { until } from '../../../support/poll.ts'
import { rawHttp } from '../../../support/raw-http.ts'
import { ask } from '../../sdk/dialect.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import type { FailoverFixture } from './fixture.ts'

/** A chat completion request; the rest of it is always the same. `model`: `<namespace>/<model>`. */
export type Request = { readonly model: string; readonly stream?: boolean; readonly [parameter: string]: unknown }

/** A reply as the client reads it. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The code of an error reply, else null. */
  readonly code: string | null
  /** False if the reply broke off. */
  readonly complete: boolean
}

const PATH = '/v1/chat/completions'

/** Sends a chat completion request. Default key: the live one. */
export async function call({ gateway }: FailoverFixture, request: Request, key = gateway.liveKey): Promise<Reply> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' }
  const reply = await rawHttp(gateway.url + PATH, { method: 'POST', headers, body: JSON.stringify(ask(openai, request)) })
  const text = await reply.text()
  const code = reply.status === 200 ? null : JSON.parse(text).error.code
  return { status: reply.status, headers: reply.headers, text, code, complete: reply.complete }
}

/** The number of attempts of a call and the namespace that served it: `2 open-second`. */
export const servedBy = ({ headers }: Reply): string => `${headers['x-umg-attempts']} ${headers['x-umg-namespace']}`

/** Makes a call whose client disconnects when `when` has resolved. Resolves when the call has settled. */
export async function leave({ gateway }: FailoverFixture, request: Request, when: () => Promise<unknown>): Promise<void> {
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

/** The line of a target in `/readyz?verbose`, without the model id. */
export async function healthOf({ gateway }: FailoverFixture, id: string): Promise<string> {
  const text = await (await gateway.fetch('/readyz?verbose')).text()
  const line = text.split('\n').find((each) => each.includes(` ${id}: `))
  return line === undefined ? expect.fail(`no ${id} in ${text}`) : line.replace(` ${id}:`, '')
}

/** Resolves when the line of a target matches. */
export async function untilHealth(fixture: FailoverFixture, id: string, pattern: RegExp): Promise<void> {
  await until(async () => pattern.test(await healthOf(fixture, id)))
}

/** Resolves when a namespace has `count` calls in flight. */
export async function untilInFlight({ gateway }: FailoverFixture, namespace: string, count: number): Promise<void> {
  await until(async () => (await gateway.metric('umg_requests_in_flight', { namespace })) === count)
}
