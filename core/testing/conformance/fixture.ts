import type OpenAI from 'openai'
import type { Provider } from '../../sdk/api.ts'
import { createProvider } from '../doubles.ts'
import { replaceSecrets, startPluginGateway } from '../plugin-gateway.ts'
import { json } from '../replies.ts'
import type { Script } from '../script.ts'
import { type ReceivedRequest, type RequestHandler, type ScriptedUpstream, scriptedUpstream } from '../scripted-upstream.ts'
import { Doorman } from '../test-auth.ts'
import type { ProviderUnderTest } from './describe-provider.ts'
import { isAbsent } from './scenarios.ts'

/** The namespace of the provider under test. */
export const NAMESPACE = 'under-test'

/** A header that a chain plugin adds to each call's upstream request. */
export const LINK_HEADER = { 'x-from-a-link': 'yes' } as const

/** The provider under test in a real gateway, with the official SDK before it and a scripted upstream behind it. */
export interface Stage {
  /** An instance of the provider that no call goes through. */
  readonly provider: Provider
  readonly upstream: ScriptedUpstream
  /** The requests for completions so far. */
  readonly asked: readonly ReceivedRequest[]
  /** The texts of all secrets in the configuration. */
  readonly secrets: readonly string[]
  /** Answers all requests for completions from now on. */
  answer(script: Script | RequestHandler): void
  /** The official SDK, without retries. */
  readonly sdk: OpenAI
  /** A request as curl would send it. */
  post(body: object, init?: RequestInit): Promise<Response>
  stop(): Promise<void>
}

/** Starts it all. */
export async function startStage(subject: ProviderUnderTest): Promise<Stage> {
  const upstream = await scriptedUpstream()
  try {
    return await stageBefore(upstream, subject)
  } catch (error) {
    await upstream.close()
    throw error
  }
}

async function stageBefore(
  upstream: ScriptedUpstream,
  { plugin, config, discovery, besides }: ProviderUnderTest,
): Promise<Stage> {
  const configured = config(upstream)
  const secrets: string[] = []
  replaceSecrets(configured, (secret) => secrets.push(secret.reveal()))
  const asked: ReceivedRequest[] = []
  let script: Script | RequestHandler = []
  upstream.on((request) => {
    const aside = besides?.(request) ?? (request.method === 'GET' ? listing(discovery, request) : undefined)
    if (aside !== undefined) return aside
    asked.push(request)
    return typeof script === 'function' ? script(request) : script
  })
  const { default: Sdk } = await import('openai').catch(() => ({ default: undefined }))
  const provider = await createProvider(plugin, configured)
  const gateway = await startPluginGateway({
    chain: [{ plugin: new Doorman(LINK_HEADER).plugin }],
    namespaces: { [NAMESPACE]: { plugin, config: configured } },
  })
  return {
    provider,
    upstream,
    asked,
    secrets,
    answer(next) {
      script = next
    },
    get sdk() {
      return new Sdk!({ baseURL: `${gateway.url}/v1`, apiKey: CLIENT_KEY, maxRetries: 0 })
    },
    post: (body, init = {}) =>
      fetch(`${gateway.url}/v1/chat/completions`, {
        ...init,
        method: 'POST',
        headers: { authorization: `Bearer ${CLIENT_KEY}`, 'content-type': 'application/json', ...init.headers },
        body: JSON.stringify(body),
      }),
    async stop() {
      await gateway.stop()
      await provider.close?.()
      await upstream.close()
    },
  }
}

/** What the client signs in with: it is for the gateway only. */
export const CLIENT_KEY = 'sk-live-of-the-client'

function listing(discovery: ProviderUnderTest['discovery'], request: ReceivedRequest): Script | Promise<Script> | undefined {
  if (isAbsent(discovery) || discovery.answers === undefined) return undefined
  const { answers } = discovery
  return typeof answers === 'function' ? (answers as RequestHandler)(request) : json(answers)
}
