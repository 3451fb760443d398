import { expect } from 'chai'
import { validate } from '../../../core/config/schema/validate.ts'
import type { Operation } from '../../../core/control/operation.ts'
import { API_BASE } from '../../../core/control/operation.ts'
import { OPERATIONS } from '../../../core/control/operations.ts'

/** A reply of the management API. */
export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body. Of an error, its `error` member. */
  readonly body: Record<string, unknown> & { readonly data?: readonly Record<string, unknown>[] }
}

/** Changes to the console's own request. */
export interface RequestOptions {
  readonly headers?: Readonly<Record<string, string>>
}

type Method = Operation['method']

/** A client of the management API: keeps cookies as a browser does, and sends the console's requests. */
export class ApiClient {
  readonly #url: string
  readonly #authorization: Readonly<Record<string, string>>
  /** By name. */
  readonly cookies = new Map<string, string>()
  /** All replies so far. */
  readonly replies: ApiReply[] = []

  /** `key`: an admin key, for a program. Without it, the client signs in by cookies. */
  constructor(url: string, key?: string) {
    this.#url = url
    this.#authorization = key === undefined ? {} : { authorization: `Bearer ${key}` }
  }

  get cookieHeader(): string {
    return Array.from(this.cookies, ([name, value]) => `${name}=${value}`).join('; ')
  }

  get(path: string, options?: RequestOptions): Promise<ApiReply> {
    return this.call('GET', path, undefined, options)
  }

  post(path: string, body: object = {}, options?: RequestOptions): Promise<ApiReply> {
    return this.call('POST', path, body, options)
  }

  patch(path: string, body: object): Promise<ApiReply> {
    return this.call('PATCH', path, body)
  }

  delete(path: string): Promise<ApiReply> {
    return this.call('DELETE', path, {})
  }

  /** Sends a request. Validates a successful reply against the schema of its route. */
  async call(method: Method, path: string, body?: object, { headers = {} }: RequestOptions = {}): Promise<ApiReply> {
    const response = await fetch(`${this.#url}${API_BASE}${path}`, {
      method,
      redirect: 'manual',
      headers: {
        ...(this.cookies.size > 0 && { cookie: this.cookieHeader }),
        ...(method !== 'GET' && { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' }),
        ...this.#authorization,
        ...headers,
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    this.#keepCookies(response.headers)
    const reply = await read(response)
    this.replies.push(reply)
    if (response.ok) expectSchema(method, path, reply)
    return reply
  }

  #keepCookies(headers: Headers): void {
    for (const line of headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*)/.exec(line)!
      if (value === '') this.cookies.delete(name!)
      else this.cookies.set(name!, value!)
    }
  }
}

async function read(response: Response): Promise<ApiReply> {
  const { status, headers } = response
  const text = await response.text()
  const isJson = headers.get('content-type')?.startsWith('application/json')
  const parsed = isJson ? JSON.parse(text) : {}
  return { status, headers, text, body: response.ok ? parsed : (parsed.error ?? {}) }
}

/** Status and code of an error reply to a plain `fetch`. */
export async function refusalOf(response: Response): Promise<readonly [status: number, code: unknown]> {
  const { error } = (await response.json()) as { readonly error: { readonly code: unknown } }
  return [response.status, error.code]
}

function expectSchema(method: Method, path: string, { body, status, text }: ApiReply): void {
  const [plain = ''] = path.split('?')
  const fits = ({ path: pattern }: Operation) =>
    new RegExp(`^${pattern.replace('.', '\\.').replace(/\{\w+\}/g, '[^/]+')}$`).test(plain)
  const row = OPERATIONS.filter((each) => each.method === method).find((each) => each.path === plain || fits(each))
  if (row === undefined) throw new Error(`no operation is ${method} ${plain}`)
  expect(status, `${method} ${plain}`).to.equal(row.status ?? (row.reply || row.streams ? 200 : 204))
  if (row.reply === undefined) expect(row.streams ? '' : text).to.equal('')
  else expect(validate(row.reply, structuredClone(body)).errors, `${method} ${plain}: ${text}`).to.deep.equal([])
}
