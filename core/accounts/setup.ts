import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'
import { exclusively } from '../store/transaction.ts'
import { digestOf } from '../text/ids.ts'
import { createToken } from './links.ts'
import { checkPassword, hashPassword } from './password.ts'
import { beginSession } from './sessions.ts'
import { checkText } from './text.ts'
import { createUser } from './users.ts'

/** How long a setup link is good for. */
const LIFE_MS = 3_600_000

/** Who the first admin is to be. */
export interface FirstAdmin {
  readonly token: string
  readonly email: string
  readonly name: string
  readonly password: string
  readonly address: string
}

/** Whether nobody is a user yet. */
export async function needsSetup({ db }: Store): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) === undefined
}

/** Makes the token of a setup link, while nobody is a user yet. It is in this result and nowhere else. */
export async function createSetupToken(store: Store): Promise<string | undefined> {
  if (!(await needsSetup(store))) return undefined
  const token = createToken()
  const now = Date.now()
  await store.db.deleteFrom('setup_links').where('expires_at', '<=', now).execute()
  await store.db
    .insertInto('setup_links')
    .values({ digest: digestOf(token), expires_at: now + LIFE_MS })
    .execute()
  return token
}

/**
 * Makes the first admin, in the account `default`, and begins their session; resolves to its token. However many come at once with
 * the link, or with links of several gateways, one is let in. Throws `link_invalid` or `invalid_value`.
 */
export async function setUp(store: Store, { token, email, name, password, address }: FirstAdmin): Promise<string> {
  const digest = digestOf(token)
  const open = store.db
    .selectFrom('setup_links')
    .select('digest')
    .where('digest', '=', digest)
    .where('expires_at', '>', Date.now())
  if ((await open.executeTakeFirst()) === undefined) throw new GatewayError('link_invalid')
  checkText('name', name)
  checkPassword(password, 'password', [token, email])
  const hash = await hashPassword(password)
  return exclusively(store, async (db) => {
    const { numDeletedRows } = await db.deleteFrom('setup_links').where('digest', '=', digest).executeTakeFirstOrThrow()
    const someone = await db.selectFrom('users').select('id').limit(1).executeTakeFirst()
    if (numDeletedRows !== 1n || someone !== undefined) throw new GatewayError('link_invalid')
    const user = await createUser(
      db,
      { email, name, role: 'admin', accountId: 'default', credential: { password: hash } },
      address,
    )
    await db.deleteFrom('setup_links').execute()
    return beginSession(db, user.id)
  })
}
