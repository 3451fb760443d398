/** What a request may be narrowed by; empty values are left out of the address. */
export type Query = Readonly<Record<string, string | number | undefined>>

/** A request that was refused, or that never arrived: what to tell the person. */
export class ApiError extends Error {
  override readonly name = 'ApiError'
  /** 0: there was no reply. */
  readonly status: number
  /** The row's code, such as `invalid_value`. */
  readonly code: string | null
  /** The field at fault. */
  readonly param: string | null
  /** For the operator, who finds the log line by it. */
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

/** The address of a management route: `/keys` with `{status:'active'}` is `/api/v1/keys?status=active`. */
export function address(path: string, query: Query = {}): string {
  const search = new URLSearchParams()
  for (const [name, value] of Object.entries(query)) if (value !== undefined && value !== '') search.set(name, String(value))
  const text = search.toString()
  return BASE + path + (text === '' ? '' : `?${text}`)
}

/** Reads. Throws ApiError. */
export function get<Reply>(path: string, query?: Query, signal?: AbortSignal): Promise<Reply> {
  return call(address(path, query), { method: 'GET', ...(signal && { signal }) })
}

/** Changes something. Throws ApiError. */
export function send<Reply>(method: 'POST' | 'PATCH' | 'DELETE', path: string, body: object = {}): Promise<Reply> {
  return call(address(path), { method, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) })
}

async function call<Reply>(url: string, init: RequestInit): Promise<Reply> {
  const response = await fetch(url, { ...init, credentials: 'same-origin' }).catch((error: unknown) => {
    if (init.signal?.aborted) throw error
    throw new ApiError('The gateway cannot be reached. Check that it runs and that you are online, then try again.')
  })
  const body = response.status === 204 ? undefined : await response.json().catch(() => undefined)
  if (!response.ok) throw refusal(response, body as RefusalBody)
  return body as Reply
}

/** Undefined: the reply was not from the gateway, or was cut. */
type RefusalBody = { readonly error?: Partial<ApiError> } | undefined

function refusal({ status, headers }: Response, body: RefusalBody): ApiError {
  const { message, code, param } = body?.error ?? {}
  return new ApiError(message ?? `The gateway answered with status ${status}.`, {
    status,
    code: code ?? null,
    param: param ?? null,
    requestId: headers.get('x-request-id'),
  })
}
