import {
  type ChainPlugin,
  type ChatChunk,
  type ChatCompletion,
  defineProvider,
  type Outcome,
  type Principal,
  Type,
} from '../sdk/api.ts'
import { openaiReply } from './openai-reply.ts'
import { type PluginConfig, type PluginGateway, startPluginGateway } from './plugin-gateway.ts'
import { readText } from './read-text.ts'
import { json, sse } from './replies.ts'
import type { Said } from './said.ts'
import type { Hold, Script } from './script.ts'
import { type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from './scripted-upstream.ts'
import { Doorman } from './test-auth.ts'
import type { Asked } from './translator/run-translator.ts'

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

/** An upstream of OpenAI's kind, with nothing between it and the links. */
export const passThrough = defineProvider({
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

/** The error that a client reads: in the reply of a call that failed, or in the last frame of a stream that broke. */
export interface ClientError {
  readonly message: string
  readonly type: string
  readonly param: string | null
  readonly code: string | null
}

/** A reply, as a client has it. */
export interface ClientReply {
  /** Undefined where the client left before it had one. */
  readonly status: number | undefined
  readonly headers: Readonly<Record<string, string>>
  /** All that came of the body. */
  readonly text: string
  /** Of a whole reply. */
  readonly completion?: ChatCompletion
  /** Of a stream: all that came of it. */
  readonly chunks?: readonly ChatChunk[]
  /** Whether a stream came to its `[DONE]`. */
  readonly done: boolean
  readonly error?: ClientError
}

/** Reads a reply as far as it goes. */
export async function readReply(replying: Promise<Response>): Promise<ClientReply> {
  const reply = await replying.catch(() => undefined)
  if (reply === undefined) return { status: undefined, headers: {}, text: '', done: false }
  const text = await readText(reply)
  const head = { status: reply.status, headers: Object.fromEntries(reply.headers), text }
  return { ...head, ...(/^text\/event-stream/.test(head.headers['content-type'] ?? '') ? readFrames(text) : readJson(text)) }
}

function readFrames(text: string): Pick<ClientReply, 'chunks' | 'done' | 'error'> {
  const data = text.split('\n\n').flatMap((frame) => (frame.startsWith('data: ') ? [frame.slice('data: '.length)] : []))
  const events = data.filter((one) => one !== '[DONE]').map((one) => JSON.parse(one))
  const { error } = events.find((one) => 'error' in one) ?? {}
  return { chunks: events.filter((one) => !('error' in one)), done: data.at(-1) === '[DONE]', ...(error && { error }) }
}

function readJson(text: string): Pick<ClientReply, 'completion' | 'done' | 'error'> {
  const body = text.startsWith('{') ? JSON.parse(text) : {}
  return { done: false, ...(body.error && { error: body.error }), ...(body.choices && { completion: body }) }
}
