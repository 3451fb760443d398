import { type ChainPlugin, defineProvider, type Outcome, type Principal, Type } from '../../sdk/api.ts'
import { type ClientReply, readReply } from '../gateway/client-reply.ts'
import { type PluginConfig, type PluginGateway, startPluginGateway } from '../gateway/plugin-gateway.ts'
import { TestAuth } from '../gateway/test-auth.ts'
import type { Asked } from '../translator/run-translator.ts'
import { openaiReply, type Said } from '../upstream/openai-reply.ts'
import { json, sse } from '../upstream/replies.ts'
import type { Hold, Script } from '../upstream/script.ts'
import { type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from '../upstream/scripted-upstream.ts'

/** One call of a link under test. */
export interface LinkCall {
  /** Fields of the request, added to a minimal one; `stream: true` requests a stream. `models`: requests the list of models. */
  readonly asked?: Asked | 'models'
  /** Headers of the client's request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The principal of the call, added to a default one; null for a link that sets it itself. */
  readonly principal?: Partial<Principal> | null
  /** The upstream's reply, whole or streamed as the call requests it; or a script, to test failures. Default: `Hello!` */
  readonly upstream?: Said | Script
  /** The client disconnects when the upstream's script has reached this step. */
  readonly leaveAt?: Hold
}

/** The results of a call. */
export interface LinkRun {
  readonly client: ClientReply
  /** The requests that reached the upstream. */
  readonly upstream: readonly ReceivedRequest[]
  /** The argument of functions given to `onSettled`. */
  readonly outcome: Outcome
  /** The link's log lines so far, those of earlier calls included. Complete after `close`. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** A chain plugin in a running gateway, for any number of calls: `await using link = await startLink(…)` closes it, also if the test fails. */
export interface StartedLink extends AsyncDisposable {
  /** Sends one call. Must not be called while another call runs. */
  run(call?: LinkCall): Promise<LinkRun>
  /** Closes the link, and waits for its work after the calls. */
  close(): Promise<void>
}

/**
 * Sends one call through a chain plugin in a real gateway, between a client and a scripted upstream. Throws the gateway's error for an
 * invalid configuration.
 *
 * @example
 * const { client, upstream, outcome } = await runLink(audit, { config: { team: 'red' }, asked: { stream: true } })
 */
export async function runLink(
  plugin: ChainPlugin,
  { config, ...call }: LinkCall & { readonly config?: PluginConfig } = {},
): Promise<LinkRun> {
  await using link = await startLink(plugin, config)
  return await link.run(call)
}

/** Starts a gateway with a chain plugin, to test what the plugin keeps between calls. */
export async function startLink(plugin: ChainPlugin, config: PluginConfig = {}): Promise<StartedLink> {
  const upstream = await scriptedUpstream()
  const auth = new TestAuth()
  try {
    const gateway = await startPluginGateway({
      chain: [{ plugin: auth.plugin }, { plugin, config }],
      namespaces: { test: { plugin: passThrough, config: { origin: upstream.origin } } },
    })
    const close = async (): Promise<void> => {
      await gateway.stop()
      await upstream.close()
    }
    return { run: (call = {}) => run({ plugin, gateway, upstream, auth }, call), close, [Symbol.asyncDispose]: close }
  } catch (error) {
    await upstream.close()
    throw error
  }
}

interface RunningLink {
  readonly plugin: ChainPlugin
  readonly gateway: PluginGateway
  readonly upstream: ScriptedUpstream
  readonly auth: TestAuth
}

async function run({ plugin, gateway, upstream, auth }: RunningLink, call: LinkCall): Promise<LinkRun> {
  const { asked = {}, headers = {}, principal = {}, leaveAt } = call
  const before = upstream.requests.length
  upstream.on((request) => scriptFor(request, call.upstream))
  const settled = auth.expectCall(principal)
  const leaving = new AbortController()
  void leaveAt?.reached.then(() => leaving.abort())
  const client = await readReply(send(gateway.url, asked, { headers, signal: leaving.signal }))
  return {
    client,
    outcome: await settled,
    upstream: upstream.requests.slice(before),
    get log() {
      return gateway.log.filter((line) => line.plugin === plugin.name)
    },
  }
}

function send(url: string, asked: Asked | 'models', init: RequestInit): Promise<Response> {
  if (asked === 'models') return fetch(`${url}/v1/models`, init)
  const body = JSON.stringify({ model: 'test/some-model', messages: [{ role: 'user', content: 'Hello' }], ...asked })
  const headers = { 'content-type': 'application/json', ...init.headers }
  return fetch(`${url}/v1/chat/completions`, { ...init, method: 'POST', headers, body })
}

function scriptFor(request: ReceivedRequest, answer: Said | Script = { text: 'Hello!' }): Script {
  if (Symbol.iterator in answer || Symbol.asyncIterator in answer) return answer
  const { whole, stream } = openaiReply(answer)
  const { stream: streamed } = request.json() as { readonly stream?: boolean }
  return streamed ? sse(stream) : json(whole)
}

/** A provider that passes everything through to an OpenAI-compatible upstream. */
const passThrough = defineProvider({
  apiVersion: 1,
  name: 'pass-through',
  schema: Type.Object({ origin: Type.String() }),
  create: ({ origin }) => ({
    parameters: 'verbatim',
    request: (call, { model }) => ({
      origin,
      path: '/v1/chat/completions',
      headers: call.headers,
      body: call.splice({ model }),
    }),
    models: async () => [{ id: 'some-model' }],
  }),
})
