import type { Kysely } from 'kysely'
import type { Schema } from '../store/schema.ts'
import { audit } from './audit.ts'
import type { NewUser } from './new-user.ts'
import { endSessions } from './sessions.ts'

/**
 * Gives a user of this address a new password, or another identity at the OpenID provider, and ends their sessions: how somebody who
 * has lost the old one comes back. Resolves to who it is; undefined where nobody has the address.
 */
export async function renewUser(
  db: Kysely<Schema>,
  { email, name, credential }: Pick<NewUser, 'email' | 'name' | 'credential'>,
  address: string,
): Promise<{ readonly id: string; readonly name: string } | undefined> {
  const user = await db
    .updateTable('users')
    .set({ ...credential, name })
    .where('email', '=', email)
    .where('disabled_at', 'is', null)
    .returning(['id', 'name'])
    .executeTakeFirst()
  if (user === undefined) return undefined
  await endSessions(db, user.id)
  await audit(db, { ...user, address }, { action: 'password.change', object: { type: 'user', ...user } })
  return user
}
