import type { Kysely } from 'kysely'
import { GatewayError } from '../errors.ts'
import { alone } from '../store/alone.ts'
import type { Store } from '../store/database.ts'
import type { Schema } from '../store/schema.ts'
import { admit, findInvitation } from './accept-invitation.ts'
import { audit } from './audit.ts'
import type { Identity } from './openid.ts'
import { beginSession } from './sessions.ts'
import { emailOf } from './user.ts'

/**
 * Begins a session for whom the OpenID provider says somebody is; resolves to its token. That is a user who signed in so before, or
 * who has this address and never did, or an invited person. Throws `openid_refused` for everybody else.
 */
export async function signInElsewhere(store: Store, identity: Identity, address: string): Promise<string> {
  const token = await alone(store, async (db) => {
    const user = (await findByIdentity(db, identity)) ?? (await adopt(db, identity, address))
    if (user !== undefined) {
      await audit(db, { ...user, address }, { action: 'session.start', object: { type: 'user', ...user } })
      return beginSession(db, user.id)
    }
    const invitation = identity.email === undefined ? undefined : await findInvitation(db, identity.email)
    return invitation && admit(db, invitation, { name: identity.name, credential: { identity: identity.id }, address })
  })
  if (token !== undefined) return token
  const name = identity.email ?? identity.id
  await audit(store.db, { address }, { action: 'session.refuse', object: { type: 'user', id: null, name } })
  throw new GatewayError('openid_refused')
}

type Found = { readonly id: string; readonly name: string } | undefined

function findByIdentity(db: Kysely<Schema>, { id }: Identity): Promise<Found> {
  const users = db.selectFrom('users').select(['id', 'name']).where('identity', '=', id)
  return users.where('disabled_at', 'is', null).executeTakeFirst()
}

/** A user of this address who never signed in by the provider does so from now on: nobody else's identity can take their place. */
async function adopt(db: Kysely<Schema>, { id, email }: Identity, address: string): Promise<Found> {
  if (email === undefined) return undefined
  const user = await db
    .updateTable('users')
    .set({ identity: id })
    .where('email', '=', emailOf(email))
    .where('identity', 'is', null)
    .where('disabled_at', 'is', null)
    .returning(['id', 'name'])
    .executeTakeFirst()
  if (user !== undefined) {
    const changes = { identity: [null, id] } as const
    await audit(db, { ...user, address }, { action: 'user.edit', object: { type: 'user', ...user }, changes })
  }
  return user
}
