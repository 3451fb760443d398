import type { Readable } from 'node:stream'
import type { Static, TObject, TSchema } from 'typebox'
import type { Caller } from './caller.ts'
import type { ManagementServices } from './services.ts'

/** The path below which the operations of the management API are served. */
export const API_BASE = '/api/v1'

/** Who may call an operation. `public`: anyone, signed in or not. `member`: all users, and admin keys. */
export type Access = 'public' | 'member' | 'admin'

/**
 * An operation of the management API, as OpenAPI has it: a method and a path, the schemas of what it takes and gives, and its handler.
 * The router, the validation and the OpenAPI document are made from these objects alone.
 */
export interface OperationDefinition<
  Who extends Access,
  Path extends string,
  Query extends TObject,
  Body extends TObject,
  Reply extends TSchema | undefined,
> {
  /** GET reads. The other methods take a JSON body, and refuse requests from pages of other sites. */
  readonly method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  /** Below the base path, its parameters in braces: `/keys/{id}/rotate`. */
  readonly path: Path
  readonly access: Who
  /** Whether a user must have entered the password not long ago: the operation gives rights. */
  readonly confirmed?: true
  /** What the audit trail calls a success: an export, or a read of others' data, which is recorded for admins only. Absent: none of both. */
  readonly records?: 'data.export' | 'data.read'
  /** One line: the heading of its documentation. */
  readonly summary: string
  /** Unknown names are refused. Texts are converted to numbers and booleans. */
  readonly query?: Query
  /** Unknown names are refused. An absent field and a null one differ. */
  readonly body?: Body
  /** The JSON of a success. Absent: no content, or see `streams`. */
  readonly reply?: Reply
  /** The content type of a success that is not JSON: the handler returns a stream. */
  readonly streams?: string
  /** The status of a success. Absent: 200, or 204 for no content. */
  readonly status?: 200 | 201 | 302
  /** Throws the GatewayError to send. */
  handle(context: OperationContext<Who, Path, Query, Body>, services: ManagementServices): Promise<Result<Reply>>
}

/** The request that a handler gets, validated against the operation's schemas. */
export interface OperationContext<Who extends Access, Path extends string, Query extends TObject, Body extends TObject> {
  readonly caller: Who extends 'public' ? undefined : Caller
  /** The `{names}` of the path, decoded. */
  readonly params: Readonly<Record<ParamsOf<Path>, string>>
  readonly query: Static<Query>
  readonly body: Static<Body>
  /** The client's address. */
  readonly address: string
  /** Path and query, as received. */
  readonly url: string
  /** Reads a cookie of the request. */
  cookie(name: string): string | undefined
  /** Sets a header of the reply; `set-cookie` may be set more than once. */
  setHeader(name: string, value: string): void
  /** Aborted when the client has left, or has its reply. */
  readonly signal: AbortSignal
}

/** An operation, whatever its types. */
export interface Operation extends OperationDefinition<Access, string, TObject, TObject, TSchema | undefined> {
  handle(context: never, services: ManagementServices): Promise<unknown>
}

type EmptyObject = TObject<Record<never, never>>

/** Defines an operation: its schemas are the types of its handler. */
export function operation<
  Who extends Access,
  Path extends string,
  Query extends TObject = EmptyObject,
  Body extends TObject = EmptyObject,
  Reply extends TSchema | undefined = undefined,
>(definition: OperationDefinition<Who, Path, Query, Body, Reply>): Operation {
  return definition as unknown as Operation
}

/** The status of an operation's success. */
export function statusOf({ status, reply, streams }: Operation): number {
  return status ?? (reply === undefined && streams === undefined ? 204 : 200)
}

/** `'/keys/{id}'` has the parameter `id`. */
type ParamsOf<Path extends string> = Path extends `${string}{${infer Name}}${infer Rest}` ? Name | ParamsOf<Rest> : never

/** What a handler returns: the JSON of the schema, a stream, or nothing. */
type Result<Reply> = Reply extends TSchema ? DeepReadonly<Static<Reply>> : Readable | undefined

type DeepReadonly<Value> = Value extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
    : Value
