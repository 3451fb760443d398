import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { OpenIdProvider } from '../accounts/openid.ts'
import type { Generation } from '../http/generation.ts'
import type { Log } from '../observe/log.ts'
import type { Store } from '../store/database.ts'
import type { Diagnostic } from '../text/diagnostic.ts'
import type { CallRecorder } from '../usage/recorder.ts'
import type { Caller } from './caller.ts'

/**
 * One row of the management API: what it is called, who may call it, what it takes and what it gives. The router, its checks and
 * the OpenAPI document are all made of these rows; without a row there is no route.
 */

/** What a handler is asked, checked against its row. */
export interface Asked<Who extends Role, Path extends string, Query extends TObject, Body extends TObject> {
  readonly caller: Who extends 'nobody' ? undefined : Caller
  /** The `{names}` of the path, decoded; whether there is such an object only the store knows. */
  readonly params: Readonly<Record<ParamsOf<Path>, string>>
  readonly query: Static<Query>
  readonly body: Static<Body>
  /** Where the request comes from. */
  readonly address: string
  /** Path and query as they came. */
  readonly url: string
  /** A cookie of the request. */
  cookie(name: string): string | undefined
  /** Sets a header of the reply; `set-cookie` may be set more than once. */
  header(name: string, value: string): void
  /** Aborted when the client has left, or has its reply. */
  readonly signal: AbortSignal
}

/** How a row is written: see `route`. */
export interface RouteDefinition<
  Who extends Role,
  Path extends string,
  Query extends TObject,
  Body extends TObject,
  Reply extends TSchema | undefined,
> {
  /** Reads are GET. Whatever changes something takes a JSON body, and is refused to the pages of other sites. */
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below `/api/v1`, its parameters in braces: `/keys/{id}/rotate`. */
  readonly path: Path
  readonly role: Who
  /** What it does: the heading of its documentation. */
  readonly summary: string
  /** Unknown names are refused. Values come as text and are converted to numbers and booleans. */
  readonly query?: Query
  /** Unknown names are refused. A field that is absent and one that is null are different things. */
  readonly body?: Body
  /** The JSON it gives. Absent: nothing, or what `streams` says. */
  readonly reply?: Reply
  /** The content type of a reply that is no JSON: the handler gives a stream of it. */
  readonly streams?: string
  /** Of success. Absent: 200, or 204 where there is nothing to tell. */
  readonly status?: 200 | 201 | 302
  /** Throws the GatewayError that the client gets. */
  handle(asked: Asked<Who, Path, Query, Body>, services: ManagementServices): Promise<Answer<Reply>>
}

/** A row, whatever its types. */
export interface Route extends RouteDefinition<Role, string, TObject, TObject, TSchema | undefined> {
  handle(asked: never, services: ManagementServices): Promise<unknown>
}

type None = TObject<Record<never, never>>

/** Writes one row, its handler typed by its schemas. */
export function route<
  Who extends Role,
  Path extends string,
  Query extends TObject = None,
  Body extends TObject = None,
  Reply extends TSchema | undefined = undefined,
>(definition: RouteDefinition<Who, Path, Query, Body, Reply>): Route {
  return definition as unknown as Route
}

/** `'/keys/{id}'` has the parameter `id`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamsOf<Rest> : never

/** What a handler gives: the JSON of its schema, a stream, or nothing. */
type Answer<Reply> = Reply extends TSchema ? Told<Static<Reply>> : Readable | undefined

/** Handlers may give what nobody may change. */
type Told<Value> = Value extends readonly (infer Item)[]
  ? readonly Told<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Told<Value[Key]> }
    : Value

/** Who may call a route. `nobody`: anyone, signed in or not. `member`: anyone signed in, and admin keys. */
export type Role = 'nobody' | 'member' | 'admin'

/** Where the management API stands. */
export const BASE = '/api/v1'

/** How the gateway is reached from outside: what links and snippets say. Origins, without a slash at the end. */
export interface Urls {
  /** Where clients call; their base URL is this and `/v1`. */
  readonly clients: string
  /** Where people find `/console`, and it the management API. */
  readonly people: string
}

/** What the operator says of the management API. */
export interface ManagementOptions {
  /** Absent: the addresses it listens on. */
  readonly urls?: Partial<Urls>
  /** Where people may also sign in. */
  readonly openid?: OpenIdProvider
  /** Addresses and networks of proxies: what they say of where a request comes from is true. */
  readonly trustedProxies?: readonly string[]
}

/** Who asked for a reload: a file that changed, SIGHUP, `POST /-/reload`. */
export type ReloadTrigger = 'file' | 'signal' | 'request'

/** What came of reading the routing table again. */
export interface ReloadOutcome {
  /** Milliseconds since 1970. */
  readonly at: number
  /** False: the table before stays in use. */
  readonly ok: boolean
  /** What is wrong; empty where nothing is. */
  readonly diagnostics: readonly Diagnostic[]
  /** A line for each thing that is otherwise than before; empty where nothing is, or the reload failed. */
  readonly difference: readonly string[]
}

/** What there is to know of the routing table in use. */
export interface ConfigState {
  /** Absolute path. */
  readonly file: string
  /** As it was when it was read. It holds no secret: those are references. */
  readonly text: string
  /** Of the text. */
  readonly sha256: string
  /** Milliseconds since 1970. */
  readonly loadedAt: number
  /** Absent: the table of the start is the only one that was read. */
  readonly lastReload?: ReloadOutcome
}

/** What the handlers of the management API work with. */
export interface ManagementServices extends Pick<ManagementOptions, 'openid' | 'trustedProxies'> {
  readonly store: Store
  readonly log: Log
  readonly recorder: CallRecorder
  readonly version: string
  /** Known once the gateway listens. */
  urls(): Urls
  /** The generation that serves new calls. */
  readonly live: { readonly generation: Generation }
  /** The routing table in use, and what came of reading it again. */
  config(): ConfigState
  /** Reads it again. */
  reload(trigger: ReloadTrigger): Promise<ReloadOutcome>
}
