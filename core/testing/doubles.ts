import { validate } from '../config/schema/validate.ts'
import { ClientCall } from '../protocol/call.ts'
import { chatCompletions } from '../protocol/chat-completions.ts'
import { createMemoryLimits } from '../quota/memory.ts'
import type { Attempt, Call, Host, ModelId, Provider, ProviderPlugin } from '../sdk/api.ts'
import { getJson } from '../upstream/get-json.ts'
import { type PluginConfig, replaceSecrets } from './plugin-gateway.ts'

/**
 * Makes a provider as the gateway does: its configuration is held against its schema, and defaults are filled in. Throws an Error
 * that says what does not fit, or what `create` throws.
 */
export async function createProvider(
  plugin: ProviderPlugin,
  config: PluginConfig = {},
  host: Host = testHost(),
): Promise<Provider> {
  const own = replaceSecrets(config, (secret) => secret.reveal())
  const { errors, secrets } = validate(plugin.schema, own)
  const [error] = errors
  if (error !== undefined) throw new Error(`the config of ${plugin.name}${error.instancePath} ${error.message}`)
  for (const secret of secrets) secret.seal()
  return plugin.create(own as never, host)
}

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
    decided: false,
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

const NOTHING = { add: () => undefined, observe: () => undefined }

/**
 * A host for a plugin under test. Limits are kept and `getJson` asks; functions are run at once, in this thread; the log and the
 * metrics keep nothing; every prompt has ten tokens, and no key is anybody's.
 */
export function testHost(overrides: Partial<Host> = {}): Host {
  const silent = (): void => {}
  return {
    log: { info: silent, warn: silent, error: silent },
    metrics: { counter: () => NOTHING, histogram: () => NOTHING },
    keys: { verify: async () => undefined },
    limits: createMemoryLimits(),
    countTokens: async () => 10,
    offload: async (module, exportName, input) => (await import(module.href))[exportName](structuredClone(input)),
    getJson,
    signal: new AbortController().signal,
    ...overrides,
  }
}
