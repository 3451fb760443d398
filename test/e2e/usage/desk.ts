import { createAccount } from '../../../core/accounts/accounts.ts'
import { COMMAND_LINE } from '../../../core/accounts/audit.ts'
import { beginSession } from '../../../core/accounts/sessions.ts'
import { createUser } from '../../../core/accounts/users.ts'
import type { TestGateway } from '../../support/gateway.ts'

/** What a request of the management API came to. */
export interface Told {
  readonly status: number
  readonly headers: Headers
  readonly text: string
  /** The reply as JSON, where it is. */
  readonly json: never
}

/** Asks the management API of a gateway, as somebody. */
export interface Desk {
  get(path: string): Promise<Told>
  /** The reply as it comes. */
  open(path: string, signal?: AbortSignal): Promise<Response>
}

/** As a program with an admin key. */
export async function adminDesk(gateway: TestGateway): Promise<Desk> {
  const key = await gateway.key({ name: 'desk', kind: 'admin' })
  return desk(gateway, { authorization: `Bearer ${key}` })
}

/** As a member of a new account, who is signed in. */
export async function memberDesk(gateway: TestGateway, name: string): Promise<{ readonly desk: Desk; readonly account: string }> {
  const { store } = gateway
  const account = await createAccount(store, { name, models: ['*'], rateClass: null }, COMMAND_LINE)
  const credential = { password: 'never used' }
  const person = { email: `${account.id}@example.com`, name, role: 'member', accountId: account.id, credential } as const
  const user = await createUser(store.db, person, '127.0.0.1')
  const token = await beginSession(store.db, user.id)
  return { desk: desk(gateway, { cookie: `umg_session=${token}` }), account: account.id }
}

function desk(gateway: TestGateway, headers: Readonly<Record<string, string>>): Desk {
  const open: Desk['open'] = (path, signal) => fetch(`${gateway.adminUrl}/api/v1${path}`, { headers, ...(signal && { signal }) })
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

/** Asks again and again, until the answer fits: what is written by and by is there in the end. */
export async function until<Answer>(ask: () => Promise<Answer>, fits: (answer: Answer) => boolean): Promise<Answer> {
  for (;;) {
    const answer = await ask()
    if (fits(answer)) return answer
  }
}
