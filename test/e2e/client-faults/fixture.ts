import { expect } from 'chai'
import { DONE, json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { type RawConnection, rawConnection, type WireReply } from '../../support/raw-connection.ts'

/** A gateway with one upstream that answers everything, and clients that send raw bytes. */
export interface Fixture {
  readonly gateway: TestGateway
  readonly upstream: ScriptedUpstream
  connect(allowHalfOpen?: boolean): Promise<RawConnection>
  /** The bytes of a valid call, with the test's changes. */
  call(changes?: CallBytes): Buffer
  stop(): Promise<void>
}

/** Changes to a valid call. */
export interface CallBytes {
  /** Default: `POST /v1/chat/completions HTTP/1.1`. */
  readonly requestLine?: string
  /** Header lines besides Host, the key and the content type. Each replaces the one of the same name. */
  readonly lines?: readonly string[]
  /** Names, in lower case, of header lines to leave out. */
  readonly without?: readonly string[]
  readonly body?: string | Buffer
  /** Default: `length`. `none`: no Content-Length is added. */
  readonly framing?: 'length' | 'none'
}

export interface FixtureOptions extends Pick<TestGatewayOptions, 'files' | 'times' | 'admission'> {
  readonly chain?: readonly object[]
}

/** The body of a valid call. */
export const GOOD_BODY = '{"model":"up/some-model","messages":[{"role":"user","content":"Hi"}]}'

export const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1700000000,
  model: 'some-model-2026',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi!', refusal: null }, logprobs: null, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}

const chunk = (delta: object, finish_reason: string | null = null) => ({
  id: 'chatcmpl-1',
  object: 'chat.completion.chunk',
  created: 1700000000,
  model: 'some-model-2026',
  choices: [{ index: 0, delta, finish_reason }],
})

/** The same completion as a stream. */
export const CHUNKS = [chunk({ role: 'assistant', content: '' }), chunk({ content: 'Hi!' }), chunk({}, 'stop')]

/** Starts the gateway and its upstream. `chain`: replaces `auth`. */
export async function startFixture({ chain = [{ plugin: 'auth' }], ...options }: FixtureOptions = {}): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const upstream = opened.adopt(await scriptedUpstream(), (all) => all.close())
  upstream.on(({ headers }) => (headers.accept === 'text/event-stream' ? sse([...CHUNKS, DONE]) : json(COMPLETION)))
  // What it answers is an error at other endpoints: that must not open the breaker for the next test.
  const up = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` }, breaker: false }
  const gateway = await startTestGateway({ ...options, routes: { chain, namespaces: { up } } })
  opened.defer(() => gateway.stop())
  const all = opened.move()
  return {
    gateway,
    upstream,
    connect: (allowHalfOpen) => rawConnection(gateway.url, allowHalfOpen),
    call: (changes) => callBytes(gateway.liveKey, changes),
    stop: () => all.disposeAsync(),
  }
}

function callBytes(key: string, { requestLine, lines = [], without = [], body = GOOD_BODY, framing = 'length' }: CallBytes = {}) {
  const replaced = new Set([...without, ...lines.map(nameOf)])
  const usual = [
    'Host: gateway',
    `Authorization: Bearer ${key}`,
    'Content-Type: application/json',
    ...(framing === 'length' ? [`Content-Length: ${Buffer.byteLength(body)}`] : []),
  ].filter((line) => !replaced.has(nameOf(line)))
  const head = [requestLine ?? 'POST /v1/chat/completions HTTP/1.1', ...usual, ...lines, '', ''].join('\r\n')
  return Buffer.concat([Buffer.from(head, 'latin1'), Buffer.from(body)])
}

const nameOf = (line: string): string => line.slice(0, line.indexOf(':')).toLowerCase()

/** An expected error reply. */
export interface Refusal {
  readonly status: number
  readonly code: string | null
  readonly param?: string | null
  readonly headers?: Readonly<Record<string, string>>
}

/** Expects an error in the shape of Anthropic's Messages API with a request id in the headers. Returns its message. */
export function expectMessagesError(
  { status, headers, body }: WireReply,
  refusal: Pick<Refusal, 'status' | 'headers'>,
  type: string,
): string {
  expect(status, body).to.equal(refusal.status)
  expect(headers).to.include({ 'content-type': 'application/json', ...refusal.headers })
  expect(headers['x-request-id']).to.match(/^req_[0-9a-f]{32}$/)
  const { error, ...others } = JSON.parse(body)
  expect(others).to.deep.equal({ type: 'error', request_id: null })
  expect(error).to.have.all.keys('message', 'type').and.include({ type })
  expect(error.message).to.be.a('string').which.is.not.equal('')
  return error.message
}

/** Expects an error in OpenAI's shape with a request id, and nothing else. Returns its message. */
export function expectError({ status, headers, body }: WireReply, refusal: Refusal): string {
  expect(status, body).to.equal(refusal.status)
  expect(headers).to.include({ 'content-type': 'application/json', ...refusal.headers })
  expect(headers['x-request-id']).to.match(/^req_[0-9a-f]{32}$/)
  const { error, ...others } = JSON.parse(body)
  expect(others).to.deep.equal({})
  expect(error).to.have.all.keys('message', 'type', 'param', 'code')
  expect(error).to.include({ type: 'invalid_request_error', code: refusal.code, param: refusal.param ?? null })
  expect(error.message).to.be.a('string').which.is.not.equal('')
  return error.message
}
