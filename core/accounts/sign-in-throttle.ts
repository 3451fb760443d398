import { isIPv6, SocketAddress } from 'node:net'
import { sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'

/** Failed attempts per window: for one e-mail address, and from one network. */
const MAX_ATTEMPTS = 5
const WINDOW_MS = 15 * 60_000

/** An attempt to sign in: the e-mail address, and the client's address. */
export interface SignInAttempt {
  readonly email: string
  readonly address: string
}

/**
 * Counts an attempt before the password is checked, so that concurrent attempts cannot exceed the limit. The counts are in the store:
 * several gateways share them, and they survive a restart. Throws `too_many_sign_in_attempts`.
 */
export async function countSignInAttempt(store: Store, attempt: SignInAttempt): Promise<void> {
  const now = Date.now()
  await store.db
    .deleteFrom('sign_in_tries')
    .where('since', '<=', now - WINDOW_MS)
    .execute()
  for (const subject of [networkSubject(attempt), emailSubject(attempt)]) {
    const { tries, since } = await store.db
      .insertInto('sign_in_tries')
      .values({ subject, tries: 1, since: now })
      .onConflict((conflict) => conflict.column('subject').doUpdateSet({ tries: sql`sign_in_tries.tries + 1` }))
      .returning(['tries', 'since'])
      .executeTakeFirstOrThrow()
    if (tries > MAX_ATTEMPTS) throw tooManyAttempts(since + WINDOW_MS - now)
  }
}

/** After a successful sign-in: clears the failed attempts of the e-mail address; the network keeps its other ones. */
export async function clearSignInAttempts(store: Store, attempt: SignInAttempt): Promise<void> {
  await store.db.deleteFrom('sign_in_tries').where('subject', '=', emailSubject(attempt)).execute()
  await store.db
    .updateTable('sign_in_tries')
    .set({ tries: sql`tries - 1` })
    .where('subject', '=', networkSubject(attempt))
    .execute()
}

const emailSubject = ({ email }: SignInAttempt): string => `email ${email}`
const networkSubject = ({ address }: SignInAttempt): string => `address ${networkOf(address)}`

function tooManyAttempts(ms: number): GatewayError {
  const headers = { 'retry-after': String(Math.ceil(ms / 1000)) }
  return new GatewayError('too_many_sign_in_attempts', { values: { minutes: Math.ceil(ms / 60_000) }, headers })
}

/** Groups of 16 bits in an IPv6 address. */
const GROUPS = 8
/** A /64: a single host can take any address within it. */
const NETWORK_GROUPS = 4

/** The network that attempts from an address count for: an IPv4 address itself, the /64 of an IPv6 address. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  // Node normalizes it to lower case and compresses zeros; it rejects a zone index after the longest addresses.
  const { address: plain } = new SocketAddress({ address: address.replace(/%.*/, ''), family: 'ipv6' })
  const [before = [], after = []] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(GROUPS - before.length - after.length, 0) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, NETWORK_GROUPS).join(':')}::/64`
}
