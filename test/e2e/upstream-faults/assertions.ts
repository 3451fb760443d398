import { expect } from 'chai'
import { APIError } from 'openai'
import { FIN, type Script, type Step } from '../../../core/testing/kit.ts'
import { type RawReply, rawHttp } from '../../support/raw-http.ts'
import { ask, type Dialect } from '../sdk/dialect.ts'
import { DIALECTS, type Fixture } from '../sdk/fixture.ts'
import { type Counters, readCounters, risen } from './counters.ts'
import type { Failure } from './failures.ts'

/** A fault of an upstream, and the failure of the call that it causes. */
export interface Fault {
  /** Completes "an upstream that …". */
  readonly name: string
  readonly script: (dialect: Dialect) => Script
  readonly failure: Failure
  /** The expected `retry-after`; absent: the reply must have none. */
  readonly retryAfter?: string
}

/** A fault that prevents the request. */
export type Unreachable = Omit<Fault, 'script'>

/** The call to make. */
export interface Asked {
  readonly dialect: Dialect
  readonly stream: boolean
  /** Default: the dialect's own. */
  readonly namespace?: string
}

/** The gateway and upstreams of a call. */
type CallFixture = Pick<Fixture, 'gateway' | 'upstream'>

/** Calls in both dialects, whole and streamed. */
export const EVERY_WAY: readonly (Asked & { readonly name: string })[] = DIALECTS.flatMap((dialect) =>
  [false, true].map((stream) => ({ dialect, stream, name: `${dialect.name}, ${stream ? 'streamed' : 'whole'}` })),
)

/** A text in upstream errors that no client may see. */
export const CANARY = 'canary-7c1e'

/** Expects the client to get an error status. */
export async function expectStatus(fixture: CallFixture, asked: Asked, fault: Fault | Unreachable): Promise<void> {
  const { failure } = fault
  const { reply, text, counted } = await callAndCount(fixture, asked, fault)
  expect(reply.status).to.equal(failure.status)
  expect(reply.headers).to.include({ 'content-type': 'application/json' })
  expect(reply.headers['x-should-retry']).to.equal(failure.shouldRetry)
  expect(reply.headers['retry-after']).to.equal(fault.retryAfter)
  expect(reply.complete).to.equal(true)
  expectError(JSON.parse(text), failure)
  expect(counted).to.deep.equal(counts(asked, failure.status, failure))
  const raised = await sdkFailure(fixture, asked, fault)
  expect(raised).to.include({ status: failure.status, code: failure.code, type: failure.type })
  expect(raised.requestID).to.match(/^req_/)
}

/**
 * Expects a broken stream: the events before the fault, one error frame, a broken connection, and no end marker. `heard` matches
 * the events before the fault.
 */
export async function expectBrokenStream(
  fixture: CallFixture,
  { dialect, namespace = dialect.namespace }: Pick<Asked, 'dialect' | 'namespace'>,
  fault: Fault & { readonly heard: RegExp },
): Promise<void> {
  const asked = { dialect, namespace, stream: true }
  const { reply, text, counted } = await callAndCount(fixture, asked, fault)
  expect(reply.status).to.equal(200)
  expect(reply.headers['content-type']).to.equal('text/event-stream; charset=utf-8')
  expect(reply.complete, 'a clean end').to.equal(false)
  const [, before, frame] = /^(.*)data: (\{"error".*\})\n\n$/s.exec(text) ?? expect.fail(`no error frame at the end of ${text}`)
  expect(before)
    .to.match(fault.heard)
    .and.not.match(/\[DONE\]|"error"|"finish_reason":"/)
  expectError(JSON.parse(frame!), fault.failure)
  expect(counted).to.deep.equal({ ...counts(asked, 200, fault.failure), 'abort upstream': 1 })
  expect(await sdkFailure(fixture, asked, fault)).to.include({ code: fault.failure.code, type: fault.failure.type })
}

function expectError(body: { readonly error: { readonly message?: unknown } }, { type, code }: Failure): void {
  expect(Object.keys(body)).to.deep.equal(['error'])
  expect(body.error).to.have.all.keys('message', 'type', 'param', 'code')
  expect(body.error).to.include({ type, code })
  expect(body.error.message).to.match(/^[A-Z].*\.$/)
}

/** Makes the call without the SDK. Expects one upstream request and a log line with a cause. Resolves to the reply and the metrics' changes. */
async function callAndCount(
  fixture: CallFixture,
  asked: Asked,
  fault: Fault | Unreachable,
): Promise<{ reply: RawReply; text: string; counted: Counters }> {
  const { gateway } = fixture
  const hits = await script(fixture, asked, fault)
  const before = readCounters(await gateway.metrics())
  const reply = await post(fixture, asked)
  const text = await reply.text()
  const line = await gateway.logged(({ id }) => id === reply.headers['x-request-id'])
  await hits()
  expect(text + JSON.stringify([reply.headers, line])).not.to.contain(CANARY)
  expect(line.cause, 'the cause in the log').to.match(/^(?:[A-Z\d_]+$|\w*Error\b)/)
  return { reply, text, counted: risen(before, readCounters(await gateway.metrics())) }
}

/** The expected metrics of one failed call. */
function counts({ dialect, namespace = dialect.namespace }: Asked, status: number, { result, outcome }: Failure): Counters {
  return { [`attempt ${PROVIDERS[dialect.namespace]} ${result}`]: 1, [`call ${namespace} ${status} ${outcome}`]: 1 }
}

/** The provider of each namespace. */
export const PROVIDERS = { open: 'openai-compatible', claude: 'anthropic' }

/** Makes the call without the SDK. */
export function post({ gateway }: Pick<Fixture, 'gateway'>, asked: Asked, more: object = {}): Promise<RawReply> {
  return rawHttp(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${gateway.liveKey}`, 'content-type': 'application/json' },
    body: JSON.stringify({ ...bodyOf(asked), ...more }),
  })
}

/** The official SDK's error for the call. If the reply forbids retries, the SDK must not retry. */
async function sdkFailure(fixture: CallFixture, asked: Asked, fault: Fault | Unreachable): Promise<APIError> {
  const hits = await script(fixture, asked, fault)
  const client = fixture.gateway.openai().withOptions({ maxRetries: fault.failure.shouldRetry === 'false' ? 2 : 0 })
  try {
    const reply = await client.chat.completions.create({ ...bodyOf(asked), stream: asked.stream })
    if (Symbol.asyncIterator in reply) for await (const _ of reply);
  } catch (error) {
    expect(error).to.be.instanceOf(APIError)
    await hits()
    return error as APIError
  }
  return expect.fail('the SDK treats the reply as a success')
}

function bodyOf({ dialect, stream, namespace = dialect.namespace }: Asked) {
  return ask(dialect, { stream, model: `${namespace}/${dialect.model}` })
}

/**
 * Sets the upstream's script, which closes the connection at its end, so that calls share none. Resolves to a function that
 * expects one upstream request.
 */
async function script(fixture: CallFixture, { dialect }: Asked, fault: Fault | Unreachable): Promise<() => Promise<void>> {
  if (!('script' in fault)) return async () => undefined
  const upstream = fixture.upstream(dialect)
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
