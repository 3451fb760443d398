import type { ChainPlugin, Outcome, Principal } from '../../api.ts'
import { Doorman } from '../doorman.ts'
import { openaiReply } from '../openai-reply.ts'
import { type PluginGateway, startPluginGateway } from '../plugin-gateway.ts'
import { json } from '../replies.ts'
import type { Said } from '../said.ts'
import type { Hold, Script } from '../script.ts'
import { type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from '../scripted-upstream.ts'
import type { PluginConfig } from '../secrets.ts'
import { sse } from '../sse.ts'
import type { Asked } from '../translator/run-translator.ts'
import { type ClientReply, readReply } from './client-reply.ts'
import { passThrough } from './pass-through.ts'

/** One call of a link under test. */
export interface LinkCall {
  /** Fields of the request, laid over a minimal one; `stream: true` asks for a stream. `models`: the list of models is asked for. */
  readonly asked?: Asked | 'models'
  /** Headers of the client's request. */
  readonly headers?: Readonly<Record<string, string>>
  /** Who calls, where it is not just anybody; null for a link that finds that out itself. */
  readonly principal?: Partial<Principal> | null
  /** What the upstream answers, as the call asks for it; or a script, for all that can go wrong. Default: `Hello!` */
  readonly upstream?: Said | Script
  /** The client leaves when the upstream's script has come to this step. */
  readonly leaveAt?: Hold
}

/** What came of a call. */
export interface LinkRun {
  readonly client: ClientReply
  /** The requests that reached the upstream. */
  readonly upstream: readonly ReceivedRequest[]
  /** What functions given to `onSettled` are told. */
  readonly outcome: Outcome
  /** What the link has logged so far, its earlier calls' lines among them: after `close`, all of it. */
  readonly log: readonly Readonly<Record<string, unknown>>[]
}

/** A link in a chain of its own, for as many calls as a test has. */
export interface LinkBench {
  /** Sends one call, while no other is under way. */
  run(call?: LinkCall): Promise<LinkRun>
  /** Closes the link, and waits for all that it does after its calls. */
  close(): Promise<void>
}

/**
 * Runs one call through a chain plugin: a real gateway's chain, with the link between a client and a scripted upstream. Throws what an
 * operator would be told of a wrong configuration.
 *
 * @example
 * const { client, upstream, outcome } = await runLink(audit, { config: { team: 'red' }, asked: { stream: true } })
 */
export async function runLink(
  plugin: ChainPlugin,
  { config, ...call }: LinkCall & { readonly config?: PluginConfig } = {},
): Promise<LinkRun> {
  const bench = await startLink(plugin, config)
  try {
    return await bench.run(call)
  } finally {
    await bench.close()
  }
}

/** Puts a chain plugin on the bench, for a test of what it keeps from one call to the next. */
export async function startLink(plugin: ChainPlugin, config: PluginConfig = {}): Promise<LinkBench> {
  const upstream = await scriptedUpstream()
  const doorman = new Doorman()
  try {
    const gateway = await startPluginGateway({
      chain: [{ plugin: doorman.plugin }, { plugin, config }],
      namespaces: { test: { plugin: passThrough, config: { origin: upstream.origin } } },
    })
    return {
      run: (call = {}) => run({ plugin, gateway, upstream, doorman }, call),
      async close() {
        await gateway.stop()
        await upstream.close()
      },
    }
  } catch (error) {
    await upstream.close()
    throw error
  }
}

interface Bench {
  readonly plugin: ChainPlugin
  readonly gateway: PluginGateway
  readonly upstream: ScriptedUpstream
  readonly doorman: Doorman
}

async function run({ plugin, gateway, upstream, doorman }: Bench, call: LinkCall): Promise<LinkRun> {
  const { asked = {}, headers = {}, principal = {}, leaveAt } = call
  const before = upstream.requests.length
  upstream.on((request) => scriptFor(request, call.upstream))
  const settled = doorman.admit(principal)
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
