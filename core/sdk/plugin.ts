import type { Middleware } from 'koa'
import type { Static, TSchema } from 'typebox'
import type { Call, CallState, ModelEndpointName, Principal } from './call.ts'
import type { AttemptStates } from './conversation.ts'
import type { Host } from './host.ts'
import type { ParameterSupport } from './parameters.ts'
import type { UpstreamRefusal } from './refusals.ts'
import type { UpstreamHeaders } from './secrets.ts'
import type { TranslatedChunk, TranslatedCompletion } from './translated.ts'
import type { Upload } from './upload.ts'

/** The version of this contract. A plugin with another version is refused when it is loaded. */
export const API_VERSION = 1

// ── Chain plugins ───────────────────────────────────────────────────────────────────────────────────────────────────

/** A configured chain plugin: a Koa middleware. `await next()` resolves when the reply is committed or failed, its head still settable. */
export interface Link {
  readonly handle: Middleware<CallState>
  /** For `umg explain`: the parts of its config that apply to a principal's calls, as JSON pointers. Throws the error that refuses them. */
  explain?(principal: Principal): readonly string[]
  /** Called once, after the last call of its generation. */
  close?(): void | Promise<void>
}

/** The argument of `defineChain`. */
export interface ChainDefinition<Schema extends TSchema = TSchema> {
  readonly apiVersion: typeof API_VERSION
  /** The plugin's name in logs, metrics and errors. */
  readonly name: string
  /** TypeBox schema of `config`: its type, its validation, the editor's help and the docs. */
  readonly schema: Schema
  create(config: Static<Schema>, host: Host): Link | Promise<Link>
}

/** A chain plugin: the default export of its module. */
export interface ChainPlugin extends ChainDefinition {
  readonly kind: 'chain'
}

/** Defines a chain plugin: `export default defineChain({…})`. */
export function defineChain<Schema extends TSchema>(definition: ChainDefinition<Schema>): ChainPlugin {
  return Object.freeze({ kind: 'chain', ...definition }) as ChainPlugin
}

// ── Provider plugins ────────────────────────────────────────────────────────────────────────────────────────────────

/** The support of each top-level field of the request; a field without an entry is dropped. `verbatim`: all are passed on. */
export type ParameterTable = 'verbatim' | Readonly<Record<string, ParameterSupport>>

/** One attempt at one target. */
export interface Attempt {
  /** From 1. */
  readonly number: number
  /** The upstream's name of the model. */
  readonly model: string
  readonly signal: AbortSignal
  /** True if the upstream refused the credential of the attempt before: refresh it. */
  readonly credentialRefused: boolean
  /** What the gateway has kept for a client that does not keep it, or that the upstream has refused all states, if the provider `takesCallStates`. Absent: nothing. */
  readonly callStates?: AttemptStates | undefined
}

/** The request that core sends, always a POST. Core adds nothing but framing, so a signature over it stays valid. */
export interface UpstreamRequest {
  /** `https://api.example.com`, with no path. */
  readonly origin: string
  /** Path and query, percent-encoded. */
  readonly path: string
  readonly headers: UpstreamHeaders
  /** An upload is sent with its length as `content-length`. */
  readonly body: Uint8Array | string | Upload
  /** Dropped parameters, in addition to those of the provider's table. */
  readonly dropped?: readonly string[]
}

/** A reply made in this process, by a provider without a network. Relay, deadlines and errors are those of an upstream's reply. */
export interface LocalReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** An error thrown here is a broken connection. */
  readonly body: Iterable<string | Buffer> | AsyncIterable<string | Buffer>
}

/** One event of an upstream's stream, decoded. */
export interface UpstreamEvent {
  /** SSE's `event:`, or '' */
  readonly type: string
  readonly data: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Translates one reply to OpenAI's. Created for each attempt; synchronous and pure. Its errors count as the upstream's. */
export interface Translator {
  /** `headers`: of the upstream's reply, lower case. */
  completion(body: unknown, headers?: Readonly<Record<string, string>>): TranslatedCompletion
  /** Usually a generator. */
  event(event: UpstreamEvent): Iterable<TranslatedChunk>
  /** Called at the end of the upstream's stream; throws if there was no end marker. Absent: there must have been a finish. */
  end?(): Iterable<TranslatedChunk>
  /** True after the upstream's end marker: its connection may stay open. Absent: the stream ends with its body. */
  readonly over?: boolean
  /** True if the reply ended before the upstream has: then the upstream is left at once. Absent: it never does. */
  readonly cut?: boolean
  /** Absent: SSE. */
  decoder?(): UpstreamDecoder
  /**
   * The usage, in the terms of chat completions, of a body or of an event's JSON whose translation threw, or of a refusal with another status:
   * upstreams bill failed answers too. May return any value. Absent: failures report none.
   */
  usage?(body: unknown): unknown
}

/** Cuts bytes into events, for wires that are not SSE. */
export interface UpstreamDecoder {
  push(bytes: Buffer): Iterable<UpstreamEvent>
  /** Throws if bytes are left over. */
  end(): Iterable<UpstreamEvent>
}

/** A model of an upstream. */
export interface Model {
  /** The upstream's name for it. */
  readonly id: string
  /** Unix seconds. */
  readonly created?: number
  readonly owned_by?: string
  /** In tokens. */
  readonly context_length?: number
  /** For readers: `Claude Haiku 4.5`. */
  readonly name?: string
  /** The most tokens of an answer. */
  readonly max_output_tokens?: number
  /** What it reads and writes, in OpenRouter's words: `text`, `image`, `file`, `audio`, `video`. */
  readonly input_modalities?: readonly string[]
  readonly output_modalities?: readonly string[]
  /** The parameters of chat completions that it takes. Absent: those that the provider's table maps, which has no list if it is `verbatim`. */
  readonly supported_parameters?: readonly string[]
  /** Of a model that speaks Anthropic's Messages API, as its list of models has them. */
  readonly capabilities?: ModelCapabilities
}

/** Capabilities of a model by name: whether it has one, or parts of it (`{ image_input: { supported: true } }`). */
export interface ModelCapabilities {
  readonly [name: string]: boolean | null | ModelCapabilities
}

/** How a provider serves an endpoint other than chat completions. */
export interface EndpointHandler {
  /** The endpoint's own parameters. */
  readonly parameters: ParameterTable
  /** Whether the upstream serves the model, by its upstream name, at the endpoint. Absent: it serves every model. */
  serves?(model: string): boolean
  /**
   * At endpoints of other protocols: whether the model takes what this call asks for there. If not, the call becomes a chat completion: that is served in the
   * provider's usual way, or at `messages.count_tokens` handed to `request`. Absent: it does.
   */
  takes?(call: Pick<Call, 'keys' | 'member'>, model: string): boolean
  /** Called for each attempt. */
  request(call: Call, attempt: Attempt): UpstreamRequest | LocalReply | Promise<UpstreamRequest | LocalReply>
  /**
   * At `responses`: `request` leaves the reasoning of earlier turns out if `attempt.callStates` is `'none'`. So a call goes on whose encrypted reasoning
   * another account of the vendor has made.
   */
  readonly takesCallStates?: boolean
  /**
   * Translates the upstream's reply to OpenAI's; for embeddings see `toEmbeddings`. Its errors count as the upstream's. Absent: the
   * upstream speaks OpenAI's protocol, and its replies and streams reach the client unchanged.
   */
  reply?(body: unknown, headers: Readonly<Record<string, string>>): object
  /** Cuts a stream into the events of the endpoint's protocol, which reach the client unchanged. Absent: they come as SSE. Not with `reply`. */
  decoder?(): UpstreamDecoder
  /** Reads a refusal at this endpoint. Absent: the provider's `error` does. */
  readonly error?: Provider['error']
}

/** A parameter of chat completions that caps the tokens of an answer. */
export type CapName = 'max_completion_tokens' | 'max_tokens'

/** The members of chat completions by which upstreams take the most tokens to think with. */
export type BudgetMember = 'thinking' | 'reasoning' | 'thinking_budget' | 'reasoning_budget' | 'thinking_token_budget'

/** How a model takes the most tokens to think with. */
export interface BudgetHint {
  readonly by: BudgetMember
  /** A member that must be `true` beside it, of models that do not think unasked. */
  readonly switch?: 'enable_thinking'
  /** The bounds of the number. Absent: none are known. */
  readonly least?: number
  readonly most?: number
}

/**
 * A further form of tools: `custom` tools, whose input is plain text, and `functions` with `function_call`, the way before tools.
 */
export type ToolForm = 'custom' | 'functions'

/** What a model takes of hints: parts of a call that are harmless to leave out. */
export interface Hints {
  /** The values of `reasoning_effort`. */
  readonly efforts: readonly string[]
  /** Whether it takes `cache_control`, the marks for the cache of prompts. */
  readonly cacheControl: boolean
  /** Absent: it takes efforts only. */
  readonly budget?: BudgetHint
  /** It takes the pictures of earlier answers, as `images` of the assistant's messages. */
  readonly pictures?: true
}

/** A configured provider. Core does the I/O: the provider translates a call to a request and, if needed, the reply back. */
export interface Provider {
  /** A function if the supports depend on the model; it receives the model's upstream name. */
  readonly parameters: ParameterTable | ((model: string) => ParameterTable)
  /**
   * With `verbatim` parameters: what a model, by its upstream name, takes of the hints of a call that the gateway has translated to a chat
   * completion. Absent: neither an effort nor marks.
   */
  hints?(model: string): Hints
  /** True if `request` gets a new credential after the last one was refused: such a refusal is attempted once more. */
  readonly refreshes?: boolean
  /** The largest request body that it serves, in bytes: a larger one is refused before it is parsed. Absent: the gateway's own limit. */
  readonly maxBody?: number
  /**
   * The parameter by which its upstream takes the most tokens of an answer, for calls to which a budget adds one. Absent: the one that
   * `parameters` maps, `max_completion_tokens` before `max_tokens`; with `verbatim` parameters `max_tokens`.
   */
  readonly cap?: CapName
  /** Globs of the addresses in calls that its upstream may fetch, in addition to those of public web servers and of the namespace. */
  readonly addresses?: readonly string[]
  /** Hosts on the public web whose files its upstream would read with the gateway's own credential: no call may name them. */
  readonly ownHosts?: readonly string[]
  /**
   * Under which name clients of Messages and Responses keep what its upstream wants back with the next turn: its vendor's, or its host's. It comes back
   * as a `KeptTurn`. Absent: they keep no more than the `extra_content` of tool calls, in which a translator writes a name of its own.
   */
  readonly stateOwner?: string
  /**
   * The names of tools that its upstream takes for a model, whole: `/^[\w-]{1,64}$/`. A tool of another name reaches it by one that it takes, at most
   * 64 letters, digits, `_` and `-`, and the client gets its own name back. Absent: it takes any.
   */
  readonly toolNames?: (model: string) => RegExp | undefined
  /**
   * The forms of tools that its upstream takes in chat completions, in addition to function tools. Tools of the others reach it as function tools, and the client
   * gets calls in its own form. Absent: with `verbatim` parameters all, else none.
   */
  readonly toolForms?: readonly ToolForm[]
  /**
   * True if its translator writes into the `extra_content` of tool calls what the upstream wants back with their results. Most clients of chat
   * completions drop that member: the gateway keeps it, and `request` finds it in `attempt.callStates`, for `withCallStates`.
   */
  readonly takesCallStates?: boolean
  /** Called for each attempt. */
  request(call: Call, attempt: Attempt): UpstreamRequest | LocalReply | Promise<UpstreamRequest | LocalReply>
  /** Absent, or undefined for a call: the upstream speaks OpenAI's protocol, and its events reach the client unchanged. */
  translator?(call: Call, attempt: Attempt): Translator | undefined
  /**
   * How it serves a chat completion that its usual way cannot, by another API of its upstream: with a table, a request and a translator of their
   * own. Undefined: in the usual way. `refused`: how the upstream has just refused the call in the usual way; if the other way may serve it, the
   * attempt is made again, and this function, which has learned from it, is asked once more.
   */
  chatBy?(
    call: Call,
    model: string,
    refused?: UpstreamRefusal,
  ): Pick<Provider, 'parameters' | 'request' | 'translator' | 'error' | 'takesCallStates' | 'toolForms'> | undefined
  /** The other endpoints that its upstream serves. Absent: chat completions only. */
  readonly endpoints?: Readonly<Partial<Record<Exclude<ModelEndpointName, 'chat.completions'>, EndpointHandler>>>
  /** Reads a reply with a status of 300 or more. Absent: it is read as OpenAI's error body. */
  error?(reply: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }): UpstreamRefusal
  /** Discovery: the models of the upstream. Throws if the request fails. */
  models?(signal: AbortSignal): Promise<readonly Model[]>
  /** For `umg validate --online`: throws unless the upstream can be reached and takes the credential. Absent: `models` is called. */
  check?(signal: AbortSignal): Promise<void>
  close?(): void | Promise<void>
}

/** The argument of `defineProvider`. */
export interface ProviderDefinition<Schema extends TSchema = TSchema> {
  readonly apiVersion: typeof API_VERSION
  readonly name: string
  readonly schema: Schema
  /** Throws an Error whose message tells the operator what to correct. */
  create(config: Static<Schema>, host: Host): Provider | Promise<Provider>
}

/** A provider plugin: the default export of its module. */
export interface ProviderPlugin extends ProviderDefinition {
  readonly kind: 'provider'
}

/** Defines a provider plugin: `export default defineProvider({…})`. */
export function defineProvider<Schema extends TSchema>(definition: ProviderDefinition<Schema>): ProviderPlugin {
  return Object.freeze({ kind: 'provider', ...definition }) as ProviderPlugin
}
