/**
 * The public seam: all that a plugin, built-in or a stranger's, may know of the gateway. Imported as
 * `unified-model-gateway/plugin`. docs/plugins.md is its guide.
 */
import type { Middleware } from 'koa'
import type { Static, TSchema } from 'typebox'
import type { ErrorName, GatewayError } from '../errors.ts'
import type { ChatChunk, ChatCompletion, ChatRequest, Usage } from './chat.ts'
import type { ParameterFate } from './fates.ts'
import type { UpstreamRefusal } from './refusal.ts'
import type { Secret } from './secret.ts'
import type { TranslatedChunk, TranslatedCompletion } from './translated.ts'

export { type Static, Type } from 'typebox'
export { type ErrorDetails, type ErrorName, GatewayError } from '../errors.ts'
export * from './chat.ts'
export * as chunk from './chunk.ts'
export { type InlineData, readDataUrl } from './data-url.ts'
export { inputTexts, type TranslatedEmbeddings, toEmbeddings } from './embeddings.ts'
export { type FactsByModel, modelFacts } from './facts.ts'
export { dropped, mapped, onlyOpenai, type ParameterFate, refused } from './fates.ts'
export { invalidValue, unsupportedParameter } from './faults.ts'
export { isRecord, parseRecord } from './json.ts'
export { readRefusal, refusalOf, UpstreamError, type UpstreamRefusal } from './refusal.ts'
export { Secret, secret } from './secret.ts'
export { compileTemplate, type Template } from './template.ts'
export { type AskedTools, readToolChoice } from './tool-choice.ts'
export type { TranslatedChoice, TranslatedChunk, TranslatedCompletion } from './translated.ts'

/** The version of this contract. A plugin made for another one is refused when it is loaded. */
export const API_VERSION = 1

// ── Ids and people ──────────────────────────────────────────────────────────────────────────────────────────────────

/** A model as a client names it: `openrouter/meta-llama/llama-3` is namespace `openrouter`, model `meta-llama/llama-3`. */
export interface ModelId {
  /** The whole id, aliases resolved: `<namespace>/<model>`. */
  readonly id: string
  readonly namespace: string
  readonly model: string
}

/** Who a call is. `auth` sets it; core refuses a call without one. */
export interface Principal {
  readonly keyId: string
  /** The key's name, as its owner chose it. */
  readonly name: string
  /** `test` keys are answered by the sandbox unless the namespace says `testKeys: upstream`. */
  readonly kind: 'live' | 'test'
  readonly account: string
  /** Globs of model ids; a call's model must match one of each list. */
  readonly models: readonly (readonly string[])[]
  /** The rate class the key or its account names; absent: the default of rate-tagging. */
  readonly rateClass?: string
  /** Labels that the key carries, such as `team`. */
  readonly tags?: Readonly<Record<string, string>>
}

// ── A call ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Which endpoint was asked: the OpenAI name of its operation. */
export type EndpointName = 'chat.completions' | 'embeddings' | 'responses' | 'models'

/** One client request, read and checked. */
export interface Call {
  /** The request id, `req_…`. */
  readonly id: string
  readonly endpoint: EndpointName
  /** The model that was asked for. */
  readonly model: ModelId
  readonly stream: boolean
  /** Whether the client asked for the usage chunk of a stream. */
  readonly includeUsage: boolean
  /** How many choices were asked for. */
  readonly choices: number
  /** Length of the client's body, in bytes. */
  readonly size: number
  /**
   * The whole body, parsed when first looked at. Read only: change it by `edit`. Of an endpoint beside chat completions it is what
   * that endpoint takes.
   */
  readonly body: Readonly<ChatRequest>
  /** One top-level member of the body, parsed by itself: a look at a small one does not cost the parsing of a large body. */
  member(key: string): unknown
  /**
   * What every upstream request carries, lower case: content-type, accept, accept-encoding, user-agent, x-request-id and the
   * headers that chain plugins added. A provider spreads them into its own.
   */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The client's own bytes with some top-level members replaced, added, or (by `undefined`) removed. All other bytes stay as
   * they came, so unknown fields, key order and large integers survive.
   */
  splice(members: Readonly<Record<string, unknown>>): Buffer
  /**
   * Changes the body, by JSON pointer (`/temperature`, `/messages/0/content`); `undefined` removes. The body is then
   * re-serialised: this call gives up the byte-exact path. Only before `next()`.
   */
  edit(pointer: string, value: unknown): void
}

/** What a link can do about the reply. */
export interface Reply {
  /**
   * Answers without the upstream: a completion for a call that does not stream, chunks for one that does. Instead of `next()`,
   * not before or after it. No tokens are charged.
   */
  send(reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>): void
  /**
   * Sees, and may change, every chunk or the completion before the client does, whatever the provider; the links below have seen it
   * before. Only before `next()`.
   */
  transform(transform: ReplyTransform): void
}

/** What `reply.transform` takes: one function for streams, one for whole replies. */
export interface ReplyTransform {
  /** Returns the chunk to send, or undefined to drop it. */
  chunk?(chunk: ChatChunk): ChatChunk | undefined
  completion?(completion: ChatCompletion): ChatCompletion
}

/** Who served a call, known when the reply is committed. */
export interface Served {
  readonly namespace: string
  /** What the upstream calls the model. */
  readonly model: string
  /** The provider plugin's name. */
  readonly provider: string
}

/** One try at one target. */
export interface AttemptRecord extends Served {
  /** `ok`, or the name of the error it ended with. */
  readonly result: string
  /** Milliseconds from its start to its end. */
  readonly ms: number
}

/** What one link took of a call. */
export interface LinkRecord {
  /** The plugin's name. */
  readonly name: string
  /** Milliseconds of its own, on the way in and on the way out: what it called by `next()` is left out. */
  readonly ms: number
}

/** How the routing table led a call. */
export interface RouteTrace {
  /** The id of the model that was asked for, aliases resolved. */
  readonly route: string
  /** Targets that were not asked, and why: the name of an error. */
  readonly passedOver: readonly { readonly target: string; readonly why: ErrorName }[]
  /**
   * What became of each parameter of the request: at the target asked last, or, where none was, at the first passed over for one of
   * them. `verbatim`: all were passed on as they came.
   */
  readonly parameters: 'verbatim' | Readonly<Record<string, ParameterFate>>
}

/** How a call ended. */
export type OutcomeKind =
  | 'ok'
  | 'client_error'
  | 'rate_limited'
  | 'upstream_error'
  | 'timeout'
  | 'client_closed'
  | 'gateway_error'

/** All that is known of a call after its last byte. */
export interface Outcome {
  readonly kind: OutcomeKind
  /** The HTTP status sent; 499 where the client left first. */
  readonly status: number
  /** What went wrong, where something did: after the head was sent too. */
  readonly error?: GatewayError
  readonly endpoint: EndpointName
  /** Absent where the call ended before its model was known. */
  readonly model?: ModelId
  readonly stream: boolean
  readonly served?: Served
  readonly attempts: readonly AttemptRecord[]
  /** The links that had their turn, in the chain's order: those that threw or hung too, not those that `when` left out. */
  readonly links: readonly LinkRecord[]
  /** Absent where no upstream took the call: nothing is charged. */
  readonly usage?: Usage
  /** True where the upstream did not say its usage. */
  readonly usageEstimated: boolean
  /** Milliseconds: whole call; to the first byte of the reply's content; in the gateway itself, until the head. */
  readonly times: { readonly total: number; readonly firstByte?: number; readonly overhead: number }
}

/** `ctx.state` of every link, the same for streams and non-streams. */
export interface CallState {
  /** The request id, `req_…`: the reply carries it as `x-request-id`. */
  readonly id: string
  readonly endpoint: EndpointName
  /** Set by auth. */
  principal: Principal | undefined
  /** The operator's labels for this call: rate-tagging sets them, the log and the usage rows carry them. */
  readonly tags: Record<string, string>
  /** Headers for the upstream, lower case. */
  readonly upstreamHeaders: Record<string, string>
  /** Reads and checks the body when first asked for. Throws the 4xx the client gets. Rejects for `models`, which has no body. */
  call(): Promise<Call>
  /** The model that was asked for, once the body has been read. */
  readonly model?: ModelId
  readonly reply: Reply
  /** After `next()`: who served the call, if someone did. */
  readonly served: Served | undefined
  /** After `next()`: the tries so far. */
  readonly attempts: readonly AttemptRecord[]
  /** After `next()`: how the table led the call, where it came so far. */
  readonly trace: RouteTrace | undefined
  /** After `next()`: why the call failed before its head, if it did. */
  readonly failure: GatewayError | undefined
  /** Milliseconds so far: since the request arrived, and of them outside the upstream. */
  elapsed(): { readonly total: number; readonly overhead: number }
  /** Runs after the last byte of every call, refused, failed and aborted ones included; timed and caught by core. */
  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void
  /** Aborted when the client leaves or the call ends. */
  readonly signal: AbortSignal
}

// ── Chain plugins ───────────────────────────────────────────────────────────────────────────────────────────────────

/** A configured chain plugin: a Koa middleware. `await next()` resolves when the reply is committed or failed, its head still settable. */
export interface Link {
  readonly handle: Middleware<CallState>
  /** For `umg explain`: which parts of its config hold for a principal's calls, as JSON pointers. Throws what refuses them. */
  explain?(principal: Principal): readonly string[]
  /** Called once, after the last call of its generation. */
  close?(): void | Promise<void>
}

/** What `defineChain` takes. */
export interface ChainDefinition<Schema extends TSchema = TSchema> {
  readonly apiVersion: typeof API_VERSION
  /** The plugin's name in logs, metrics and errors. */
  readonly name: string
  /** TypeBox schema of `config`: the type, the check, the editor's help and the docs. */
  readonly schema: Schema
  create(config: Static<Schema>, host: Host): Link | Promise<Link>
}

/** A chain plugin, as its module exports it by default. */
export interface ChainPlugin extends ChainDefinition {
  readonly kind: 'chain'
}

/** Defines a chain plugin: `export default defineChain({…})`. */
export function defineChain<Schema extends TSchema>(definition: ChainDefinition<Schema>): ChainPlugin {
  return Object.freeze({ kind: 'chain', ...definition }) as ChainPlugin
}

// ── Provider plugins ────────────────────────────────────────────────────────────────────────────────────────────────

/** Per top-level field of the request what becomes of it; a field that is not in the table is dropped. `verbatim`: all are passed on. */
export type ParameterTable = 'verbatim' | Readonly<Record<string, ParameterFate>>

/** One try at one target. */
export interface Attempt {
  /** From 1. */
  readonly number: number
  /** What the upstream calls the model. */
  readonly model: string
  readonly signal: AbortSignal
  /** True where the upstream refused the credential of the try before: refresh it. */
  readonly credentialRefused: boolean
}

/** What core sends. Final: core adds nothing but framing, so a signature over it holds. Always a POST. */
export interface UpstreamRequest {
  /** `https://api.example.com`, with no path. */
  readonly origin: string
  /** Path and query, percent-encoded. */
  readonly path: string
  /** Lower-case names. A `Secret` is opened when it is written. */
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly body: Buffer | string
  /** Parameters left out beside those of the provider's table. */
  readonly dropped?: readonly string[]
}

/** An upstream's reply made in this process, for a provider that needs no network. It meets the same relay, deadlines and faults. */
export interface LocalReply {
  readonly status: number
  readonly headers?: Readonly<Record<string, string>>
  /** Throwing here is a cut connection. */
  readonly body: Iterable<string | Buffer> | AsyncIterable<string | Buffer>
}

/** One event of an upstream's stream, decoded. */
export interface UpstreamEvent {
  /** SSE's `event:`, or '' */
  readonly type: string
  readonly data: string
  readonly headers?: Readonly<Record<string, string>>
}

/** Turns one reply into OpenAI's. Made anew for each attempt; synchronous and pure. What it throws is an upstream's fault. */
export interface Translator {
  /** `headers`: of the upstream's reply, lower case. */
  completion(body: unknown, headers?: Readonly<Record<string, string>>): TranslatedCompletion
  /** Usually a generator. */
  event(event: UpstreamEvent): Iterable<TranslatedChunk>
  /** At the upstream's end of stream: throws where its end marker has not been seen. Absent: a finish must have been seen. */
  end?(): Iterable<TranslatedChunk>
  /** True once the upstream's end marker has been seen: its connection may stay open. Absent: the stream ends with its body. */
  readonly over?: boolean
  /** Absent: SSE. */
  decoder?(): UpstreamDecoder
}

/** Cuts bytes into events, for wires that are not SSE. */
export interface UpstreamDecoder {
  push(bytes: Buffer): Iterable<UpstreamEvent>
  /** Throws where bytes are left over. */
  end(): Iterable<UpstreamEvent>
}

/** A model an upstream offers. */
export interface Model {
  /** The upstream's name for it. */
  readonly id: string
  /** Unix seconds. */
  readonly created?: number
  readonly owned_by?: string
  /** Tokens. */
  readonly context_length?: number
}

/** An endpoint beside chat completions, as a provider serves it. */
export interface EndpointOperation {
  /** Of the endpoint's own parameters. */
  readonly parameters: ParameterTable
  /** Called anew for each attempt. */
  request(call: Call, attempt: Attempt): UpstreamRequest | LocalReply | Promise<UpstreamRequest | LocalReply>
  /**
   * What OpenAI's reply is made of, out of the upstream's; for embeddings see `toEmbeddings`. What it throws is the upstream's fault.
   * Absent: the upstream speaks OpenAI's protocol, and its replies and streams reach the client verbatim.
   */
  reply?(body: unknown, headers: Readonly<Record<string, string>>): object
  /** What a refusal at this endpoint means. Absent: the provider's own `error` says. */
  readonly error?: Provider['error']
}

/** A configured provider. Core does the I/O: the provider turns a call into a request and, at need, the reply back. */
export interface Provider {
  /** A function where the fates depend on the model, by its upstream name. */
  readonly parameters: ParameterTable | ((model: string) => ParameterTable)
  /** True where `request` gets a new credential when the one before was refused: then a refusal is tried once more. */
  readonly refreshes?: boolean
  /** The largest client's body that it serves, in bytes: a larger one is refused before it is parsed. Absent: the gateway's own limit. */
  readonly maxBody?: number
  /** Called anew for each attempt. */
  request(call: Call, attempt: Attempt): UpstreamRequest | LocalReply | Promise<UpstreamRequest | LocalReply>
  /** Absent: the upstream speaks OpenAI's protocol, and its events reach the client verbatim. */
  translator?(call: Call, attempt: Attempt): Translator
  /** What else its upstream serves. Absent: chat completions only. */
  readonly endpoints?: Readonly<Partial<Record<'embeddings' | 'responses', EndpointOperation>>>
  /** What a reply with a status of 300 or more means. Absent: OpenAI's error body is read. */
  error?(reply: {
    readonly status: number
    readonly headers: Readonly<Record<string, string>>
    readonly body: string
  }): UpstreamRefusal
  /** Discovery. Throws where the upstream cannot be asked. */
  models?(signal: AbortSignal): Promise<readonly Model[]>
  /** Whether the upstream can be reached and takes the credential, for `umg validate --online`. Absent: `models` tells. Throws what is wrong. */
  check?(signal: AbortSignal): Promise<void>
  close?(): void | Promise<void>
}

/** What `defineProvider` takes. */
export interface ProviderDefinition<Schema extends TSchema = TSchema> {
  readonly apiVersion: typeof API_VERSION
  readonly name: string
  readonly schema: Schema
  /** Throws an Error whose message tells the operator what to mend. */
  create(config: Static<Schema>, host: Host): Provider | Promise<Provider>
}

/** A provider plugin, as its module exports it by default. */
export interface ProviderPlugin extends ProviderDefinition {
  readonly kind: 'provider'
}

/** Defines a provider plugin: `export default defineProvider({…})`. */
export function defineProvider<Schema extends TSchema>(definition: ProviderDefinition<Schema>): ProviderPlugin {
  return Object.freeze({ kind: 'provider', ...definition }) as ProviderPlugin
}

// ── Host ────────────────────────────────────────────────────────────────────────────────────────────────────────────

/** All that a plugin may use of core. */
export interface Host {
  /** Bound to the plugin's name and place in routes.yaml. */
  readonly log: HostLog
  readonly metrics: HostMetrics
  readonly keys: {
    /** Who a secret belongs to; undefined for a key that is unknown, revoked or expired. Throws `storage_unavailable`. */
    verify(secret: string): Promise<Principal | undefined>
  }
  readonly limits: Limits
  /** Tokens of the call's prompt, by gpt-tokenizer's o200k, in a worker thread. */
  countTokens(call: Call): Promise<number>
  /** Runs a pure function of a module in a worker thread; `input` and the result are cloned. */
  offload(module: URL, exportName: string, input: unknown): Promise<unknown>
  /**
   * GETs a JSON document of at most 4 MiB, such as a list of models: no redirects are followed, and a `Secret` is opened as it is
   * written. Throws an Error that names no secret; the cause of a refusal is an `UpstreamError` with the upstream's words, without
   * addresses and keys.
   */
  getJson(
    url: string,
    options: { readonly headers: Readonly<Record<string, string | Secret>>; readonly signal: AbortSignal },
  ): Promise<unknown>
  /** Aborted when the plugin is closed. */
  readonly signal: AbortSignal
}

/** The gateway's log: fields, then what happened, as a constant text. Neither may hold secrets or what was asked and answered. */
export interface HostLog {
  info(fields: Readonly<Record<string, unknown>>, message: string): void
  warn(fields: Readonly<Record<string, unknown>>, message: string): void
  error(fields: Readonly<Record<string, unknown>>, message: string): void
}

/** Get-or-create: asking again for the same name gives the same metric, so it survives a reload. */
export interface HostMetrics {
  counter(name: string, help: string, labels?: readonly string[]): HostCounter
  histogram(name: string, help: string, labels: readonly string[], buckets: readonly number[]): HostHistogram
}

/** A number that only grows. */
export interface HostCounter {
  /** One value per label, in the order they were declared. Values past the cap of series are counted as `other`. */
  add(amount: number, ...labels: string[]): void
}

/** How values are spread over buckets. */
export interface HostHistogram {
  observe(value: number, ...labels: string[]): void
}

/** An amount in a window of time. */
export interface Rate {
  readonly amount: number
  readonly windowMs: number
}

/** What a rate class allows. */
export interface RateLimits {
  readonly requests?: Rate
  readonly tokens?: Rate
  /** Calls under way at once. */
  readonly concurrent?: number
}

/** Budgets of requests, tokens and places, kept by core. */
export interface Limits {
  /** Takes one request, so many tokens and one concurrent place from a subject's budgets, or nothing at all. */
  reserve(subject: string, limits: RateLimits, tokens: number): Reservation | Promise<Reservation>
}

/** What a call was given of its budgets, or why it was given nothing. */
export interface Reservation {
  /** Which budget was empty; absent: granted. */
  readonly refusedBy?: 'requests' | 'tokens' | 'concurrent'
  /** Milliseconds until the refused budget has room again; 0 for `concurrent`. */
  readonly retryAfterMs: number
  readonly requests?: Budget
  readonly tokens?: Budget
  /** Once, after the call: what it really used. Gives the concurrent place back. */
  settle(tokens: number): void | Promise<void>
}

/** A budget as it stands: what `x-ratelimit-*` says. */
export interface Budget {
  readonly limit: number
  readonly remaining: number
  /** Milliseconds until it is full again. */
  readonly resetMs: number
}
