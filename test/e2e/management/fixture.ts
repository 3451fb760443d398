import { randomBytes } from 'node:crypto'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { invite, redeemInvitation } from '../../../core/accounts/invitations.ts'
import { beginSession } from '../../../core/accounts/sessions.ts'
import { createUser } from '../../../core/accounts/users.ts'
import type { ManagementOptions } from '../../../core/control/services.ts'
import { createKey } from '../../../core/keys/keys.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient } from './api-client.ts'

/** The password of every user. */
export const PASSWORD = 'correct horse battery staple'

/** Its hash with the least cost of argon2id: tests sign in hundreds of times, for some 40 ms of CPU at the cost of production. */
const HASH = '$argon2id$v=19$m=8,t=1,p=1$Zm9yIHRlc3RzIG9ubHkhIQ$uOc4uyasDb9zpGurNuUSzhKvcW7ZKNsk7Sk1NxVk6J8'

const ADDRESS = '127.0.0.1'

/** A routes.yaml with everything that the management API shows. */
const ROUTES = `
version: 1
chain: [{ plugin: auth }]
namespaces:
  sandbox: { provider: sandbox, models: [hello] }
  spare: { provider: sandbox, models: [hello] }
  openai: { provider: openai-compatible, optional: true, config: { preset: openai, apiKey: "\${env:OPENAI_API_KEY}" }, models: [gpt-5.5] }
  acme:
    models:
      smart: { targets: [{ model: sandbox/hello, weight: 3 }, { model: openai/gpt-5.5, weight: 1 }], fallbacks: [spare/hello] }
aliases: { gpt-4o: acme/smart }
keys:
  - { name: nightly, hash: "sha256:${'ab'.repeat(32)}", kind: live, models: ["acme/*"], class: batch, expires: 2999-01-31 }
`

/** A gateway with an admin, a member of another account, and a program with an admin key. */
export interface Fixture {
  readonly gateway: TestGateway
  readonly admin: ApiClient
  readonly member: ApiClient
  readonly program: ApiClient
  readonly adminKey: string
  /** The id of the member's account. */
  readonly account: string
  readonly adminId: string
  readonly memberId: string
  /** A client that has not signed in. */
  newClient(): ApiClient
  /** Restores and signs in both users, and deletes all other users, invitations and sign-in attempts. */
  restore(): Promise<void>
  stop(): Promise<void>
}

/** Starts the gateway and creates its users. */
export async function startFixture(database: string, management?: ManagementOptions): Promise<Fixture> {
  await using opened = new AsyncDisposableStack()
  const gateway = opened.adopt(await startTestGateway({ routes: ROUTES, database, ...(management && { management }) }), (all) =>
    all.stop(),
  )
  const { url, store } = gateway
  const { db } = store
  const credential = { password: HASH }
  const cookie = management?.urls?.people?.startsWith('https:') ? '__Host-umg_session' : 'umg_session'
  const newClient = () => new ApiClient(url)
  const ada = { email: 'ada@example.com', name: 'Ada', role: 'admin', accountId: 'default', credential } as const
  const { id: adminId } = await createUser(db, ada, ADDRESS)
  const account = await createAccount(store, { name: 'Acme', models: ['sandbox/*', 'acme/*'], rateClass: null }, GATEWAY)
  const { invitation } = await invite(store, { email: 'bob@example.com', role: 'member', account: account.id }, GATEWAY)
  await redeemInvitation(db, invitation, { name: 'Bob', credential, address: ADDRESS })
  const { id: memberId } = await db.selectFrom('users').select('id').where('name', '=', 'Bob').executeTakeFirstOrThrow()
  const { secret: adminKey } = await createKey(store, { name: 'terraform', kind: 'admin' })
  const [admin, member, program] = [newClient(), newClient(), new ApiClient(url, adminKey)]

  async function restore(): Promise<void> {
    for (const table of ['sessions', 'invitations', 'sign_in_tries'] as const) await db.deleteFrom(table).execute()
    await db.deleteFrom('users').where('id', 'not in', [adminId, memberId]).execute()
    for (const [id, role, client] of [
      [adminId, 'admin', admin],
      [memberId, 'member', member],
    ] as const) {
      await db
        .updateTable('users')
        .set({ ...credential, role, disabled_at: null })
        .where('id', '=', id)
        .execute()
      client.cookies.set(cookie, await beginSession(db, id))
    }
  }

  await restore()
  const people = { admin, member, program, adminKey, adminId, memberId, account: account.id }
  const all = opened.move()
  return { gateway, ...people, newClient, restore, stop: () => all.disposeAsync() }
}

/** A unique text. */
export const unique = (what: string): string => `${what} ${randomBytes(6).toString('hex')}`
