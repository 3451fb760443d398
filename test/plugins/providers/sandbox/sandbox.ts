import { expect } from 'chai'
import type { ChatChunk, ChatCompletion, Host, LocalReply, Provider } from 'unified-model-gateway/plugin'
import plugin from '../../../../plugins/providers/sandbox/index.ts'
import { fakeAttempt, fakeCall } from '../../../support/fake-call.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'

/** The provider as core would create it. */
export const provider = plugin.create({}, {} as Host) as Provider

/** The reply to a request, before its body is read. */
export function ask(body: Record<string, unknown>, signal = new AbortController().signal): LocalReply {
  const call = fakeCall({ model: 'sandbox/echo', ...body })
  return provider.request(call, fakeAttempt(call, { signal })) as LocalReply
}

/** The pieces of a reply's body, in order. */
export async function* piecesOf({ body }: LocalReply): AsyncGenerator<string> {
  for await (const piece of body) yield String(piece)
}

/** All bytes of a reply's body. */
export const bytesOf = async (reply: LocalReply): Promise<string> => (await Array.fromAsync(piecesOf(reply))).join('')

/** Reads a whole reply. */
export async function complete(body: Record<string, unknown>): Promise<ChatCompletion> {
  const reply = ask(body)
  expect(reply.status).to.equal(200)
  expect(reply.headers).to.deep.equal({ 'content-type': 'application/json' })
  return JSON.parse(await bytesOf(reply))
}

/** Reads the chunks of a streamed reply; there must be an end marker. */
export async function stream(body: Record<string, unknown>): Promise<ChatChunk[]> {
  const reply = ask({ stream: true, ...body })
  expect(reply.status).to.equal(200)
  expect(reply.headers).to.deep.equal({ 'content-type': 'text/event-stream' })
  const events = (await bytesOf(reply)).split('\n\n')
  expect(events.splice(-2)).to.deep.equal(['data: [DONE]', ''])
  return events.map((event) => JSON.parse(event.slice('data: '.length)))
}

/** A gateway whose test keys the sandbox answers, also in place of an upstream that nobody serves. */
export function startSandboxGateway(): Promise<TestGateway> {
  return startTestGateway({
    routes: {
      chain: [{ plugin: 'auth' }],
      namespaces: {
        sandbox: { provider: 'sandbox' },
        openai: { provider: 'openai-compatible', config: { baseUrl: 'http://127.0.0.1:9/v1' } },
        stalling: { provider: 'sandbox', timeouts: { idle: '20ms' } },
      },
    },
  })
}

/** The messages of a request with one user message. */
export const saying = (content: string): { messages: unknown[] } => ({ messages: [{ role: 'user', content }] })

/** The refusal of a request: its status and its error. */
export async function refusal(body: Record<string, unknown>): Promise<{ status: number; error: Record<string, unknown> }> {
  const reply = ask(body)
  return { status: reply.status, ...JSON.parse(await bytesOf(reply)) }
}

/** Resolves with the error of a rejected promise. */
export const rejection = (promise: Promise<unknown>): Promise<Error> =>
  promise.then(
    () => expect.fail('it was not rejected'),
    (error: Error) => error,
  )
