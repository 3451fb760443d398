import { MEMBERS } from '../../protocol/members.ts'
import {
  bodyWith,
  type ChainPlugin,
  defineProvider,
  type EndpointHandler,
  type ModelEndpointName,
  type Outcome,
  type Principal,
  Type,
} from '../../sdk/api.ts'
import { bodyOf, ENDPOINT_REQUESTS, pathOf, streamed } from '../gateway/endpoint-requests.ts'
import { type PluginConfig, type PluginGateway, startPluginGateway } from '../gateway/plugin-gateway.ts'
import { TestAuth } from '../gateway/test-auth.ts'
import type { Asked } from '../translator/run-translator.ts'
import { ENDPOINT_REPLIES, type MediaEndpoint, wholeReplyOf } from '../upstream/endpoint-replies.ts'
import { openaiReply, type Said } from '../upstream/openai-reply.ts'
import { json, sse } from '../upstream/replies.ts'
import type { Hold, Script } from '../upstream/script.ts'
import { type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from '../upstream/scripted-upstream.ts'
import { type ClientReply, readReply } from './client-reply.ts'

/** One call of a link under test. */
export interface LinkCall {
  /** The endpoint that the client calls. Default: `chat.completions`. */
  readonly endpoint?: ModelEndpointName | 'models'
  /** Fields of the request, added to a minimal one of the endpoint; `stream: true` requests a stream. With a `File` it is sent as a form. */
  readonly asked?: Asked
  /** Headers of the client's request. */
  readonly headers?: Readonly<Record<string, string>>
  /** The principal of the call, added to a default one; null for a link that sets it itself. */
  readonly principal?: Partial<Principal> | null
  /**
   * What the upstream's model says, at chat completions, Messages and Responses; or a script, to test failures. Default: `Hello!`, or the reply
   * of the endpoint. The upstream has OpenAI's API without Responses, and refuses members that an endpoint does not have.
   */
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
  const { endpoint = 'chat.completions', principal = {}, leaveAt } = call
  const before = upstream.requests.length
  upstream.on((request) => scriptFor(request, call.upstream))
  const settled = auth.expectCall(principal)
  const leaving = new AbortController()
  void leaveAt?.reached.then(() => leaving.abort())
  const client = await readReply(endpoint, send(gateway.url, call, leaving.signal))
  return {
    client,
    outcome: await settled,
    upstream: upstream.requests.slice(before),
    get log() {
      return gateway.log.filter((line) => line.plugin === plugin.name)
    },
  }
}

function send(url: string, call: LinkCall, signal: AbortSignal): Promise<Response> {
  const { endpoint = 'chat.completions', asked, headers } = call
  const address = url + pathOf(endpoint)
  if (endpoint === 'models') return fetch(address, { ...(headers && { headers }), signal })
  const body = bodyOf({ model: 'test/some-model', ...REQUESTS[endpoint], ...asked })
  if (body instanceof FormData) return fetch(address, { method: 'POST', ...(headers && { headers }), body, signal })
  const typed = { 'content-type': 'application/json', ...headers }
  return fetch(address, { method: 'POST', headers: typed, body: JSON.stringify(body), signal })
}

const REQUESTS = { 'chat.completions': { messages: [{ role: 'user', content: 'Hello' }] }, ...ENDPOINT_REQUESTS } as const

/** The endpoints whose upstream streams. */
const STREAMS = ['chat.completions', 'messages', 'responses', ...Object.keys(ENDPOINT_REPLIES).filter(hasStreams)]

function hasStreams(endpoint: string): boolean {
  return ENDPOINT_REPLIES[endpoint as MediaEndpoint].events !== undefined
}

/**
 * A call of each kind that the gateway serves, by title: to each endpoint, whole and streamed. A link that knows the members of chat
 * completions only breaks others.
 *
 * @example
 * for (const [title, call] of Object.entries(EVERY_CALL))
 *   test(`serves ${title}`, async () => assert.equal((await runLink(audit, { config, ...call })).client.error, undefined))
 */
export const EVERY_CALL: Readonly<Record<string, LinkCall>> = Object.fromEntries(
  ([...Object.keys(REQUESTS), 'models'] as (ModelEndpointName | 'models')[]).flatMap((endpoint): [string, LinkCall][] => [
    [endpoint, { endpoint }],
    ...(STREAMS.includes(endpoint)
      ? [[`${endpoint}, streamed`, { endpoint, asked: streamed(endpoint) }] as [string, LinkCall]]
      : []),
  ]),
)

async function scriptFor(request: ReceivedRequest, answer: Said | Script = { text: 'Hello!' }): Promise<Script> {
  if (Symbol.iterator in answer || Symbol.asyncIterator in answer) return answer
  const endpoint = request.path.slice('/v1/'.length).replaceAll('/', '.') as UpstreamEndpoint
  const asked = await membersOf(request)
  const unknown = Object.keys(asked).find((name) => !Object.hasOwn(MEMBERS[endpoint].top, name))
  if (unknown !== undefined) return unknownMember(unknown)
  const isStream = asked.stream === true || asked.stream === 'true' || asked.stream_format === 'sse'
  const { whole, events } = endpoint === 'chat.completions' ? chatReply(answer) : mediaReply(endpoint)
  return isStream ? sse(events) : whole
}

/** The endpoints of the upstream: the gateway translates Messages and Responses, and counts tokens itself. */
type UpstreamEndpoint = 'chat.completions' | MediaEndpoint

function chatReply(says: Said): { readonly whole: Script; readonly events: readonly string[] } {
  const { whole, stream } = openaiReply(says)
  return { whole: json(whole), events: stream }
}

const mediaReply = (endpoint: MediaEndpoint) => ({
  whole: wholeReplyOf(endpoint),
  events: ENDPOINT_REPLIES[endpoint].events ?? [],
})

/** The members of a request's body, JSON or a form. */
async function membersOf({ headers, body, json }: ReceivedRequest): Promise<Readonly<Record<string, unknown>>> {
  const type = headers['content-type'] ?? ''
  if (!type.startsWith('multipart/')) return json() as Readonly<Record<string, unknown>>
  return Object.fromEntries(await new Response(new Uint8Array(body), { headers: { 'content-type': type } }).formData())
}

/** As OpenAI says it. */
const unknownMember = (param: string): Script =>
  json(
    { error: { message: `Unrecognized request argument supplied: ${param}`, type: 'invalid_request_error', param, code: null } },
    { status: 400 },
  )

/** A provider that passes everything through to an OpenAI-compatible upstream. */
const passThrough = defineProvider({
  apiVersion: 1,
  name: 'pass-through',
  schema: Type.Object({ origin: Type.String() }),
  create({ origin }) {
    const passed = (endpoint: UpstreamEndpoint): EndpointHandler => ({
      parameters: 'verbatim',
      request: (call, { model }) => ({
        origin,
        path: pathOf(endpoint),
        headers: call.headers,
        body: bodyWith(call, { model }),
      }),
    })
    return {
      ...passed('chat.completions'),
      parameters: 'verbatim',
      endpoints: Object.fromEntries(Object.keys(ENDPOINT_REPLIES).map((name) => [name, passed(name as MediaEndpoint)])),
      models: async () => [{ id: 'some-model' }],
    }
  },
})
