import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { exclusively } from '../store/transaction.ts'
import { digestOf } from '../text/ids.ts'
import { checkText } from './field-checks.ts'
import { checkPassword, hashPassword } from './password.ts'
import { beginSession } from './sessions.ts'
import { createToken } from './tokens.ts'
import { createUser } from './users.ts'

/** How long a setup link is valid. */
const LIFETIME_MS = 3_600_000

/** The first admin, and the token of the setup link. */
export interface FirstAdmin {
  readonly token: string
  readonly email: string
  readonly name: string
  readonly password: string
  readonly address: string
}

/** Whether there is no user yet. */
export async function needsSetup({ db }: Store): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

/** Creates the token of a setup link, which is stored nowhere. Undefined if there is a user already. */
export async function createSetupToken(store: Store): Promise<string | undefined> {
  if (!(await needsSetup(store))) return undefined
  const token = createToken()
  const now = Date.now()
  await store.db.deleteFrom('setup_links').where('expires_at', '<=', now).execute()
  await store.db
    .insertInto('setup_links')
    .values({ digest: digestOf(token), expires_at: now + LIFETIME_MS })
    .execute()
  return token
}

/**
 * Creates the first admin, in the account `default`, and begins a session; resolves to its token. Of concurrent requests with the link,
 * or with links of several gateways, one succeeds. Throws `link_invalid` or `invalid_value`.
 */
export async function completeSetup(store: Store, { token, email, name, password, address }: FirstAdmin): Promise<string> {
  const digest = digestOf(token)
  const open = store.db
    .selectFrom('setup_links')
    .select('digest')
    .where('digest', '=', digest)
    .where('expires_at', '>', Date.now())
  if ((await open.executeTakeFirst()) === undefined) throw new GatewayError('link_invalid')
  checkText('name', name)
  await checkPassword(password, 'password', [token, email])
  const hash = await hashPassword(password)
  return exclusively(store, async (db) => {
    const { numDeletedRows } = await db.deleteFrom('setup_links').where('digest', '=', digest).executeTakeFirstOrThrow()
    const existing = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
    if (numDeletedRows !== 1n || existing !== undefined) throw new GatewayError('link_invalid')
    const user = await createUser(
      db,
      { email, name, role: 'admin', accountId: 'default', credential: { password: hash } },
      address,
    )
    await db.deleteFrom('setup_links').execute()
    return beginSession(db, user.id)
  })
}
