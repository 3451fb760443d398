import type OpenAI from 'openai'
import { chatHandler } from '../../routing/handler.ts'
import type { Provider } from '../../sdk/api.ts'
import { createProvider, testAttempt, testCall } from '../gateway/doubles.ts'
import { replaceSecrets, startPluginGateway } from '../gateway/plugin-gateway.ts'
import { TestAuth } from '../gateway/test-auth.ts'
import { json } from '../upstream/replies.ts'
import type { Script } from '../upstream/script.ts'
import {
  type ReceivedRequest,
  type RequestHandler,
  type ScriptedUpstream,
  scriptedUpstream,
} from '../upstream/scripted-upstream.ts'
import { isAbsent, type ProviderUnderTest } from './provider-under-test.ts'
import { redirect, type SentRequest, undoRedirect } from './redirect.ts'

/** The namespace of the provider under test. */
export const NAMESPACE = 'under-test'

/** A header that a chain plugin adds to each upstream request. */
export const LINK_HEADER = { 'x-from-a-link': 'yes' } as const

/** The client's API key: no upstream may see it. */
export const CLIENT_KEY = 'sk-live-of-the-client'

/** A provider's suite, as its cases see it. */
export interface Suite {
  readonly subject: ProviderUnderTest
  /** Exists only while a case runs. */
  readonly harness: Harness
}

/** The provider under test in a real gateway, between the official SDK and a scripted upstream. */
export interface Harness {
  /** A second instance of the provider, which serves no call, with the way in which it serves chat completions. */
  readonly provider: Provider
  /** Whether it translates replies: else its upstream speaks OpenAI's protocol. */
  readonly isTranslated: boolean
  readonly upstream: ScriptedUpstream
  /** The upstream requests so far, without those for tokens and for the list of models. */
  readonly received: readonly SentRequest[]
  /** The texts of all secrets in the configuration. */
  readonly secrets: readonly string[]
  /** Sets the upstream's reply to all following calls. */
  answer(script: Script | RequestHandler): void
  /** The official SDK, without retries. */
  readonly sdk: OpenAI
  /** Sends a request without the SDK, as JSON or as a form: a chat completion, unless there is another path. */
  post(body: object, init?: RequestInit & { readonly path?: string }): Promise<Response>
  stop(): Promise<void>
}

/** Starts the upstream and the gateway. */
export async function startHarness(subject: ProviderUnderTest): Promise<Harness> {
  const upstream = await scriptedUpstream()
  try {
    return await startBefore(upstream, subject)
  } catch (error) {
    await upstream.close()
    throw error
  }
}

async function startBefore(
  upstream: ScriptedUpstream,
  { plugin: own, config, model, discovery, uploads, besides }: ProviderUnderTest,
): Promise<Harness> {
  const plugin = redirect(own, upstream.origin)
  const configured = config(upstream)
  const secrets: string[] = []
  replaceSecrets(configured, (secret) => secrets.push(secret.reveal()))
  const received: SentRequest[] = []
  let script: Script | RequestHandler = []
  upstream.on((request) => {
    const other = besides?.(request) ?? (request.method === 'GET' ? listing(discovery, request) : undefined)
    if (other !== undefined) return other
    received.push(undoRedirect(request))
    const upload = uploads?.(request)
    if (upload !== undefined) return upload
    return typeof script === 'function' ? script(request) : script
  })
  const { default: Sdk } = await import('openai').catch(() => ({ default: undefined }))
  const gateway = await startPluginGateway({
    chain: [{ plugin: new TestAuth(LINK_HEADER).plugin }],
    namespaces: { [NAMESPACE]: { plugin, config: configured } },
  })
  const made = await createProvider(plugin, configured)
  const chat = chatHandler(made, testCall(), model)
  const provider = chat === made ? made : { ...made, ...chat }
  const isTranslated = provider.translator?.(testCall(), testAttempt(testCall())) !== undefined
  return {
    provider,
    isTranslated,
    upstream,
    received,
    secrets,
    answer(next) {
      script = next
    },
    get sdk() {
      return new Sdk!({ baseURL: `${gateway.url}/v1`, apiKey: CLIENT_KEY, maxRetries: 0 })
    },
    post: (body, { path = '/v1/chat/completions', ...init } = {}) =>
      fetch(gateway.url + path, {
        ...init,
        method: 'POST',
        headers: {
          authorization: `Bearer ${CLIENT_KEY}`,
          ...(!(body instanceof FormData) && { 'content-type': 'application/json' }),
          ...init.headers,
        },
        body: body instanceof FormData ? body : JSON.stringify(body),
      }),
    async stop() {
      await gateway.stop()
      await provider.close?.()
      await upstream.close()
    },
  }
}

function listing(discovery: ProviderUnderTest['discovery'], request: ReceivedRequest): Script | Promise<Script> | undefined {
  if (isAbsent(discovery) || discovery.answers === undefined) return undefined
  const { answers } = discovery
  return typeof answers === 'function' ? (answers as RequestHandler)(request) : json(answers)
}
