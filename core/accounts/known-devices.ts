import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Store } from '../store/database.ts'
import { createToken } from './tokens.ts'

/**
 * The cookie of a browser that a user has signed in with: `<id>.<signature>`. The signature is by the hash of the user's password, so that it
 * ends with that password, and needs no table. It does not sign in; it only tells the user from strangers who guess the password.
 */
export async function createDevice({ db }: Store, userId: string): Promise<string | undefined> {
  const user = await db.selectFrom('users').select('password').where('id', '=', userId).executeTakeFirst()
  if (user?.password == null) return undefined
  const id = createToken()
  return `${id}.${signatureOf(userId, id, user.password)}`
}

/** A user who may sign in; `password`: its hash. */
interface DeviceUser {
  readonly id: string
  readonly password: string | null
}

/** The id of a device that a user has signed in with; undefined for any other cookie. */
export function knownDevice(cookie: string | undefined, user: DeviceUser | undefined): string | undefined {
  const [id = '', signature = ''] = cookie?.split('.') ?? []
  if (id === '' || user?.password == null) return undefined
  const expected = Buffer.from(signatureOf(user.id, id, user.password))
  const given = Buffer.from(signature)
  return given.length === expected.length && timingSafeEqual(given, expected) ? id : undefined
}

const signatureOf = (userId: string, id: string, hash: string): string =>
  createHmac('sha256', hash).update(`${userId} ${id}`).digest('base64url')
