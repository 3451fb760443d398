import { checkSchema, validate } from '../../config/schema/validate.ts'
import { memoryLimits } from '../../limits/limits.ts'
import { HostLimits } from '../../limits/reserve.ts'
import { type CallContext, ClientCall, modelNotFound, UNCOUNTED } from '../../protocol/call.ts'
import { chatCompletions } from '../../protocol/chat-completions.ts'
import { JsonBody } from '../../protocol/json-body.ts'
import type { Attempt, Call, Host, ModelId, Provider, ProviderPlugin } from '../../sdk/api.ts'
import { getJsonBy } from '../../upstream/get-json.ts'
import { type PluginConfig, replaceSecrets } from './plugin-gateway.ts'

/**
 * Creates a provider as the gateway does: validates its configuration and fills in defaults. Throws an Error that names the invalid
 * field, or what `create` throws.
 */
export async function createProvider(
  plugin: ProviderPlugin,
  config: PluginConfig = {},
  host: Host = testHost(),
): Promise<Provider> {
  checkSchema(plugin.schema)
  const own = replaceSecrets(config, (secret) => secret.reveal())
  const { errors, secrets } = validate(plugin.schema, own)
  const [error] = errors
  if (error !== undefined) throw new Error(`the config of ${plugin.name}${error.instancePath} ${error.message}`)
  for (const secret of secrets) secret.seal()
  return plugin.create(own as never, host)
}

const MINIMAL = { model: 'test/some-model', messages: [{ role: 'user', content: 'Hello' }] }

/**
 * The `Call` that a provider gets, from fields added to a minimal request. Validated as by the gateway: throws the client's 400 if the
 * request is invalid.
 */
export function testCall(body: Readonly<Record<string, unknown>> = {}): Call {
  const context: CallContext = {
    id: 'req_test',
    endpoint: chatCompletions.name,
    check: chatCompletions.check,
    resolve,
    upstreamHeaders: {},
    memory: UNCOUNTED,
    decided: false,
  }
  return new ClientCall(context, JsonBody.read(Buffer.from(JSON.stringify({ ...MINIMAL, ...body })), context))
}

function resolve(id: string): ModelId {
  const slash = id.indexOf('/')
  if (slash < 1) throw modelNotFound(id)
  return { id, namespace: id.slice(0, slash), model: id.slice(slash + 1) }
}

/** The first attempt at a call's model, with a signal that is never aborted. */
export function testAttempt(call: Call, overrides: Partial<Attempt> = {}): Attempt {
  const { signal } = new AbortController()
  return { number: 1, model: call.model.model, signal, credentialRefused: false, ...overrides }
}

const DISCARD = { add: () => undefined, observe: () => undefined }

/**
 * A host for a plugin under test. Limits are kept in memory and `getJson` sends requests; `compute` and `offload` run functions in
 * this thread; the log and the metrics discard everything; every prompt has ten tokens, no key is valid, and routes.yaml is in the
 * working folder.
 */
export function testHost(overrides: Partial<Host> = {}): Host {
  const silent = (): void => {}
  const { log = { info: silent, warn: silent, error: silent }, countTokens = async () => 10 } = overrides
  return {
    log,
    metrics: { counter: () => DISCARD, histogram: () => DISCARD },
    keys: { verify: async () => undefined },
    limits: new HostLimits(memoryLimits(), { log, countTokens }),
    countTokens,
    compute: async (call, fn, input) => fn.run(call, input),
    offload: async (module, exportName, input) => (await import(module.href))[exportName](structuredClone(input)),
    getJson: getJsonBy(),
    directory: process.cwd(),
    signal: new AbortController().signal,
    ...overrides,
  }
}
