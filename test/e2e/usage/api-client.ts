import { createAccount } from '../../../core/accounts/accounts.ts'
import { COMMAND_LINE } from '../../../core/accounts/audit.ts'
import { beginSession } from '../../../core/accounts/sessions.ts'
import { createUser } from '../../../core/accounts/users.ts'
import type { TestGateway } from '../../support/gateway.ts'

/** A reply of the management API. */
export interface ApiReply {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The parsed body; undefined if it is not JSON. */
  readonly json: never
}

/** A client of the management API of a gateway. */
export interface ApiClient {
  get(path: string): Promise<ApiReply>
  /** Resolves at the head of the reply. */
  open(path: string, signal?: AbortSignal): Promise<Response>
}

/** A client with an admin key. */
export async function adminClient(gateway: TestGateway): Promise<ApiClient> {
  const key = await gateway.key({ name: 'test', kind: 'admin' })
  return apiClient(gateway, { authorization: `Bearer ${key}` })
}

/** A client with the session of a member of a new account. */
export async function memberClient(
  gateway: TestGateway,
  name: string,
): Promise<{ readonly api: ApiClient; readonly account: string }> {
  const { store } = gateway
  const account = await createAccount(store, { name, models: ['*'], rateClass: null }, COMMAND_LINE)
  const credential = { password: 'never used' }
  const person = { email: `${account.id}@example.com`, name, role: 'member', accountId: account.id, credential } as const
  const user = await createUser(store.db, person, '127.0.0.1')
  const token = await beginSession(store.db, user.id)
  return { api: apiClient(gateway, { cookie: `umg_session=${token}` }), account: account.id }
}

function apiClient(gateway: TestGateway, headers: Readonly<Record<string, string>>): ApiClient {
  const open: ApiClient['open'] = (path, signal) =>
    fetch(`${gateway.adminUrl}/api/v1${path}`, { headers, ...(signal && { signal }) })
  return {
    open,
    async get(path) {
      const reply = await open(path)
      const text = await reply.text()
      const isJson = reply.headers.get('content-type')?.startsWith('application/json;') ?? false
      return { status: reply.status, headers: reply.headers, text, json: (isJson ? JSON.parse(text) : undefined) as never }
    },
  }
}
