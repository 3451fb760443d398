import type { Middleware } from 'koa'
import type { Static, TSchema } from 'typebox'
import type { Call, CallState, Principal } from './call.ts'
import type { Host } from './host.ts'
import type { ParameterSupport } from './parameters.ts'
import type { UpstreamRefusal } from './refusals.ts'
import type { UpstreamHeaders } from './secrets.ts'
import type { TranslatedChunk, TranslatedCompletion } from './translated.ts'

/** The version of this contract. A plugin made for another one is refused when it is loaded. */
export const API_VERSION = 1

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
export type ParameterTable = 'verbatim' | Readonly<Record<string, ParameterSupport>>

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
  readonly headers: UpstreamHeaders
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
  /** A function where the supports depend on the model, by its upstream name. */
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
