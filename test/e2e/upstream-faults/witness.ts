import { expect } from 'chai'
import { APIError } from 'openai'
import { FIN, type Script, type Step } from '../../../core/testing/kit.ts'
import { type RawReply, rawHttp } from '../../support/raw-http.ts'
import { ask, type Dialect } from '../sdk/dialect.ts'
import { DIALECTS, type Stage } from '../sdk/stage.ts'
import { type Counters, readCounters, risen } from './counters.ts'
import type { Failure } from './failures.ts'

/** What an upstream does to a call, and how the call fails by it. */
export interface Fault {
  /** What the upstream does, to be read after "an upstream that". */
  readonly name: string
  readonly script: (dialect: Dialect) => Script
  readonly failure: Failure
  /** The reply's `retry-after`, where it must have one. */
  readonly retryAfter?: string
}

/** A fault that never gets as far as a request. */
export type Unreachable = Omit<Fault, 'script'>

/** Which call is made. */
export interface Asked {
  readonly dialect: Dialect
  readonly stream: boolean
  /** Where it is not the dialect's own. */
  readonly namespace?: string
}

/** A gateway, and the upstreams that hear its calls. */
type Heard = Pick<Stage, 'gateway' | 'upstream'>

/** A call in both dialects, whole and streamed. */
export const EVERY_WAY: readonly (Asked & { readonly name: string })[] = DIALECTS.flatMap((dialect) =>
  [false, true].map((stream) => ({ dialect, stream, name: `${dialect.name}, ${stream ? 'streamed' : 'whole'}` })),
)

/** Stands where an upstream says what no client may hear. */
export const CANARY = 'canary-7c1e'

/** A fault that the client is told of by a status. */
export async function expectStatus(stage: Heard, asked: Asked, fault: Fault | Unreachable): Promise<void> {
  const { failure } = fault
  const { reply, text, counted } = await witnessed(stage, asked, fault)
  expect(reply.status).to.equal(failure.status)
  expect(reply.headers).to.include({ 'content-type': 'application/json' })
  expect(reply.headers['x-should-retry']).to.equal(failure.shouldRetry)
  expect(reply.headers['retry-after']).to.equal(fault.retryAfter)
  expect(reply.complete).to.equal(true)
  expectError(JSON.parse(text), failure)
  expect(counted).to.deep.equal(counts(asked, failure.status, failure))
  const raised = await sdkFailure(stage, asked, fault)
  expect(raised).to.include({ status: failure.status, code: failure.code, type: failure.type })
  expect(raised.requestID).to.match(/^req_/)
}

/**
 * A fault in the middle of a stream: the client has what came before it, then one error frame and a broken connection, and never
 * an end marker. `heard`: what came before.
 */
export async function expectBrokenStream(
  stage: Heard,
  { dialect, namespace = dialect.namespace }: Pick<Asked, 'dialect' | 'namespace'>,
  fault: Fault & { readonly heard: RegExp },
): Promise<void> {
  const asked = { dialect, namespace, stream: true }
  const { reply, text, counted } = await witnessed(stage, asked, fault)
  expect(reply.status).to.equal(200)
  expect(reply.headers['content-type']).to.equal('text/event-stream; charset=utf-8')
  expect(reply.complete, 'a clean end').to.equal(false)
  const [, before, frame] = /^(.*)data: (\{"error".*\})\n\n$/s.exec(text) ?? expect.fail(`no error frame at the end of ${text}`)
  expect(before)
    .to.match(fault.heard)
    .and.not.match(/\[DONE\]|"error"|"finish_reason":"/)
  expectError(JSON.parse(frame!), fault.failure)
  expect(counted).to.deep.equal({ ...counts(asked, 200, fault.failure), 'abort upstream': 1 })
  expect(await sdkFailure(stage, asked, fault)).to.include({ code: fault.failure.code, type: fault.failure.type })
}

function expectError(body: { readonly error: { readonly message?: unknown } }, { type, code }: Failure): void {
  expect(Object.keys(body)).to.deep.equal(['error'])
  expect(body.error).to.have.all.keys('message', 'type', 'param', 'code')
  expect(body.error).to.include({ type, code })
  expect(body.error.message).to.match(/^[A-Z].*\.$/)
}

/** Makes the call by hand. Whatever became of it, the upstream was asked once, and the metrics tell of it as it was. */
async function witnessed(
  stage: Heard,
  asked: Asked,
  fault: Fault | Unreachable,
): Promise<{ reply: RawReply; text: string; counted: Counters }> {
  const { gateway } = stage
  const hits = await script(stage, asked, fault)
  const before = readCounters(await gateway.metrics())
  const reply = await post(stage, asked)
  const text = await reply.text()
  const line = await gateway.logged(({ id }) => id === reply.headers['x-request-id'])
  await hits()
  expect(text + JSON.stringify([reply.headers, line])).not.to.contain(CANARY)
  expect(line.cause, 'the cause in the log').to.match(/^(?:[A-Z\d_]+$|\w*Error\b)/)
  return { reply, text, counted: risen(before, readCounters(await gateway.metrics())) }
}

/** What the metrics must say of one failed call. */
function counts({ dialect, namespace = dialect.namespace }: Asked, status: number, { result, outcome }: Failure): Counters {
  return { [`attempt ${PROVIDERS[dialect.namespace]} ${result}`]: 1, [`call ${namespace} ${status} ${outcome}`]: 1 }
}

/** The plugins behind the namespaces. */
export const PROVIDERS = { open: 'openai-compatible', claude: 'anthropic' }

/** The call as a client without an SDK makes it. */
export function post({ gateway }: Pick<Stage, 'gateway'>, asked: Asked, more: object = {}): Promise<RawReply> {
  return rawHttp(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.liveKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...bodyOf(asked), ...more }),
  })
}

/** What the official SDK raises for the call. Where the reply says not to retry, its own retries must stay away. */
async function sdkFailure(stage: Heard, asked: Asked, fault: Fault | Unreachable): Promise<APIError> {
  const hits = await script(stage, asked, fault)
  const client = stage.gateway.openai().withOptions({ maxRetries: fault.failure.shouldRetry === 'false' ? 2 : 0 })
  try {
    const reply = await client.chat.completions.create({ ...bodyOf(asked), stream: asked.stream })
    if (Symbol.asyncIterator in reply) for await (const _ of reply);
  } catch (error) {
    expect(error).to.be.instanceOf(APIError)
    await hits()
    return error as APIError
  }
  return expect.fail('the SDK took the reply for a success')
}

function bodyOf({ dialect, stream, namespace = dialect.namespace }: Asked) {
  return ask(dialect, { stream, model: `${namespace}/${dialect.model}` })
}

/**
 * Has the upstream do its part and close, so that the next call finds no connection on which this one left something. The
 * function it resolves to expects that the upstream was asked once.
 */
async function script(stage: Heard, { dialect }: Asked, fault: Fault | Unreachable): Promise<() => Promise<void>> {
  if (!('script' in fault)) return async () => undefined
  const upstream = stage.upstream(dialect)
  const before = upstream.requests.length
  upstream.on(() => closing(fault.script(dialect)))
  return async () => {
    await Promise.all(upstream.requests.map(({ closed }) => closed))
    expect(upstream.requests.length - before, 'requests to the upstream').to.equal(1)
  }
}

async function* closing(script: Script): AsyncGenerator<Step> {
  yield* script
  yield FIN
}
