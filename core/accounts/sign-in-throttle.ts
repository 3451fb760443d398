import { isIPv6, SocketAddress } from 'node:net'
import { sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'

/** So many failed tries in so long, as one person and from one place. */
const TRIES = 5
const WINDOW_MS = 15 * 60_000

/** Who tries: as whom, and from where. */
export interface SignInAttempt {
  readonly email: string
  readonly address: string
}

/**
 * Counts a try to sign in before it is made, so that of many at once no more than the allowed ones are. Kept in the store, so that
 * several gateways count together, and a restart forgets nothing. Throws `too_many_tries`.
 */
export async function countFailedSignIn(store: Store, trier: SignInAttempt): Promise<void> {
  const now = Date.now()
  await store.db
    .deleteFrom('sign_in_tries')
    .where('since', '<=', now - WINDOW_MS)
    .execute()
  for (const subject of [placeOf(trier), personOf(trier)]) {
    const { tries, since } = await store.db
      .insertInto('sign_in_tries')
      .values({ subject, tries: 1, since: now })
      .onConflict((conflict) => conflict.column('subject').doUpdateSet({ tries: sql`sign_in_tries.tries + 1` }))
      .returning(['tries', 'since'])
      .executeTakeFirstOrThrow()
    if (tries > TRIES) throw tooManyTries(since + WINDOW_MS - now)
  }
}

/** A try that went well is none; whoever knows the password may have mistyped it before. The place keeps its other tries. */
export async function forgetFailedSignIns(store: Store, trier: SignInAttempt): Promise<void> {
  await store.db.deleteFrom('sign_in_tries').where('subject', '=', personOf(trier)).execute()
  await store.db.updateTable('sign_in_tries').set({ tries: sql`tries - 1` }).where('subject', '=', placeOf(trier)).execute()
}

const personOf = ({ email }: SignInAttempt): string => `email ${email}`
const placeOf = ({ address }: SignInAttempt): string => `address ${networkOf(address)}`

function tooManyTries(ms: number): GatewayError {
  const headers = { 'retry-after': String(Math.ceil(ms / 1000)) }
  return new GatewayError('too_many_tries', { values: { minutes: Math.ceil(ms / 60_000) }, headers })
}

const GROUPS = 8
/** 64 bits: what one customer has, and within which they are whoever they like (RFC 6177). */
const OF_ONE_CUSTOMER = 4

/** Where an address belongs to, for counting: an IPv4 address is a place of its own, of IPv6 a whole /64 is one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  // As node writes it: short, in small letters, and all in groups, but for some that begin with zeros. Its parser refuses a zone
  // behind the longest addresses.
  const { address: plain } = new SocketAddress({ address: address.replace(/%.*/, ''), family: 'ipv6' })
  const [before = [], after = []] = plain.split('::').map((part) => (part === '' ? [] : part.split(':')))
  const zeros = Array.from({ length: Math.max(GROUPS - before.length - after.length, 0) }, () => '0')
  return `${[...before, ...zeros, ...after].slice(0, OF_ONE_CUSTOMER).join(':')}::/64`
}
