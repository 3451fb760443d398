import { askConfirmation } from './confirmation.ts'
import type { components, paths } from './management-api.ts'

/** The schemas of the management API, by name. */
export type Schemas = components['schemas']

type Method = 'get' | 'post' | 'patch' | 'delete'

/** The paths that have a method. */
export type PathOf<M extends Method> = { [P in keyof paths]: paths[P] extends Record<M, unknown> ? P : never }[keyof paths]

type Operation<M extends Method, P> = P extends keyof paths ? (M extends keyof paths[P] ? paths[P][M] : never) : never

/** The body that an operation takes. */
export type BodyOf<M extends Method, P> =
  Operation<M, P> extends { readonly requestBody: { readonly content: { readonly 'application/json': infer Body } } }
    ? Body
    : undefined

/** The JSON that an operation replies with; undefined: nothing. */
export type ReplyOf<M extends Method, P> =
  Operation<M, P> extends { responses: infer Responses } ? JsonOf<Responses[keyof Responses & (200 | 201 | 204)]> : never

type JsonOf<Response> = Response extends { content: { readonly 'application/json': infer Json } } ? Json : undefined

/** The query of a path. Values are as the address bar has them: '' stands for none. */
export type QueryOf<P> =
  Operation<'get', P> extends { parameters: { readonly query?: infer Names } }
    ? { readonly [Name in keyof Names]?: string | number | undefined }
    : Readonly<Record<string, never>>

/** The value of `{id}` in a path, where it has one. */
type IdOf<P> = P extends `${string}{id}${string}` ? { readonly id: string } : { readonly id?: undefined }

/** A request that was refused, or has no reply. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0: there was no reply. */
  readonly status: number
  /** Such as `invalid_value`. */
  readonly code: string | null
  /** The invalid field. */
  readonly param: string | null
  /** For the operator: the log has it. */
  readonly requestId: string | null

  constructor(message: string, { status = 0, code = null, param = null, requestId = null }: Partial<ApiError> = {}) {
    super(message)
    this.status = status
    this.code = code
    this.param = param
    this.requestId = requestId
  }
}

const BASE = '/api/v1'

/** The address of a path: that of `/keys` with `{ status: 'active' }` is `/api/v1/keys?status=active`. */
export function address<P extends PathOf<'get'>>(path: P, query?: QueryOf<P>): string {
  return BASE + path + searchOf(query)
}

/** Reads. Throws ApiError. */
export function get<P extends PathOf<'get'>>(
  path: P,
  { id, query, signal }: IdOf<P> & { readonly query?: QueryOf<P>; readonly signal?: AbortSignal },
): Promise<ReplyOf<'get', P>> {
  return call(BASE + withId(path, id) + searchOf(query), { method: 'GET', ...(signal && { signal }) })
}

/** Changes something. If the change needs the user's password again, asks for it, and then makes the change. Throws ApiError. */
export async function send<M extends Exclude<Method, 'get'>, P extends PathOf<M>>(
  method: M,
  path: P,
  {
    id,
    body,
    keepalive = false,
  }: IdOf<P> &
    (BodyOf<M, P> extends undefined ? { readonly body?: undefined } : { readonly body: BodyOf<M, P> }) & {
      /** The request outlives the page. */
      readonly keepalive?: boolean
    },
): Promise<ReplyOf<M, P>> {
  const change = (): Promise<ReplyOf<M, P>> =>
    call(BASE + withId(path, id), {
      method: method.toUpperCase(),
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body ?? {}),
      keepalive,
    })
  for (;;) {
    try {
      return await change()
    } catch (error) {
      const isUnconfirmed = error instanceof ApiError && error.code === 'confirmation_required'
      if (!isUnconfirmed || !(await askConfirmation())) throw error
    }
  }
}

const withId = (path: string, id = ''): string => path.replace('{id}', encodeURIComponent(id))

function searchOf(query: object = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, String(value))
  return search.size === 0 ? '' : `?${search}`
}

async function call<Reply>(url: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(url, { ...init, credentials: 'same-origin' }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw new ApiError('The gateway cannot be reached. Check that it is running and that you are online, then try again.')
  })
  const body = response.status === 204 ? undefined : await response.json().catch(() => undefined)
  if (!response.ok) throw refusal(response, body as Partial<Schemas['Error']> | undefined)
  return body as Reply
}

/** `body`: undefined if the reply was not the gateway's, or was cut. */
function refusal({ status, headers }: Response, body: Partial<Schemas['Error']> | undefined): ApiError {
  const { message, code, param } = body?.error ?? {}
  return new ApiError(message ?? `The gateway replied with status ${status}.`, {
    status,
    code: code ?? null,
    param: param ?? null,
    requestId: headers.get('x-request-id'),
  })
}
