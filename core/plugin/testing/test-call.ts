import { ClientCall } from '../../http/client-call.ts'
import { chatCompletions } from '../../http/endpoints/chat-completions.ts'
import type { Attempt, Call, ModelId } from '../api.ts'

const MINIMAL = { model: 'test/some-model', messages: [{ role: 'user', content: 'Hello' }] }

/**
 * A call as a provider gets it, for a body laid over a minimal request. Read and checked as the gateway does it: throws the 400 that
 * a client would get for it.
 */
export function testCall(body: Readonly<Record<string, unknown>> = {}): Call {
  return new ClientCall(Buffer.from(JSON.stringify({ ...MINIMAL, ...body })), {
    id: 'req_test',
    endpoint: chatCompletions.name,
    check: chatCompletions.check,
    resolve,
    upstreamHeaders: {},
  })
}

function resolve(id: string): ModelId | undefined {
  const slash = id.indexOf('/')
  return slash < 1 ? undefined : { id, namespace: id.slice(0, slash), model: id.slice(slash + 1) }
}

/** The first try at a call's model, with a signal that nobody aborts. */
export function testAttempt(call: Call, overrides: Partial<Attempt> = {}): Attempt {
  const { signal } = new AbortController()
  return { number: 1, model: call.model.model, signal, credentialRefused: false, ...overrides }
}
