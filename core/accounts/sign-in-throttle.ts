import { isIPv6, SocketAddress } from 'node:net'
import { sql } from 'kysely'
import { GatewayError } from '../errors.ts'
import type { Store } from '../store/database.ts'

/** What failed attempts are counted for, and how many are free of delays. */
interface Subject {
  readonly name: string
  readonly free: number
}

/** Failed attempts without a delay: of a pair of person and network, of a person from all networks, from a network for all persons. */
const FREE = { pair: 5, person: 20, network: 50 }

/** The first delay; each further failure doubles it. */
const DELAY_MS = 1000
const MAX_DELAY_MS = 15 * 60_000
/** How long after their last delay failures are forgotten. */
const FORGET_MS = 60 * 60_000

/** A sign-in with a password: the e-mail address, and where it comes from. */
export interface SignInAttempt {
  readonly email: string
  /** The client's address. */
  readonly address: string
  /** The browser's own: a device that this user has signed in with, or an open session of the user. Strangers have none. */
  readonly own?: string
}

/**
 * The subjects of an attempt. What strangers do counts for the person and for the network, and delays each other; a device or session of
 * the user's own counts for itself alone, so that its right password is never refused for what others did.
 */
function subjectsOf({ email, address, own }: SignInAttempt): readonly Subject[] {
  if (own !== undefined) return [{ name: `own ${own}`, free: FREE.pair }]
  const network = networkOf(address)
  return [
    { name: `pair ${email} ${network}`, free: FREE.pair },
    { name: `email ${email}`, free: FREE.person },
    { name: `address ${network}`, free: FREE.network },
  ]
}

/**
 * Counts an attempt before the password is checked, so that concurrent attempts are not free. The counts are in the store: several gateways
 * share them, and they survive a restart. Throws `too_many_sign_in_attempts` during a delay.
 */
export async function countSignInAttempt({ db }: Store, attempt: SignInAttempt): Promise<void> {
  const now = Date.now()
  await db
    .deleteFrom('sign_in_tries')
    .where('since', '<=', now - FORGET_MS)
    .execute()
  const subjects = subjectsOf(attempt)
  const waiting = await db
    .selectFrom('sign_in_tries')
    .select('since')
    .where(({ and, eb, or }) => or(subjects.map(({ name, free }) => and([eb('subject', '=', name), eb('tries', '>=', free)]))))
    .where('since', '>', now)
    .orderBy('since', 'desc')
    .executeTakeFirst()
  if (waiting !== undefined) throw tooManyAttempts(waiting.since - now)
  for (const { name, free } of subjects) {
    const counted = await db
      .insertInto('sign_in_tries')
      .values({ subject: name, tries: 1, since: now })
      .onConflict((conflict) =>
        conflict
          .column('subject')
          .doUpdateSet({ tries: sql`sign_in_tries.tries + 1`, since: sql`${sql.lit(now)} + ${delayAfter(free)}` })
          // Attempts without a delay are never too early, whichever gateway's clock is ahead.
          .where(({ eb, or }) => or([eb('sign_in_tries.since', '<=', now), eb('sign_in_tries.tries', '<', free)])),
      )
      .returning('tries')
      .executeTakeFirst()
    // A concurrent attempt began the delay.
    if (counted === undefined) throw tooManyAttempts(DELAY_MS)
  }
}

/** The milliseconds of delay after one more failure: `since` is the time from which the next attempt is allowed. */
function delayAfter(free: number) {
  const most = Math.floor(Math.log2(MAX_DELAY_MS / DELAY_MS))
  const over = sql`(sign_in_tries.tries + 1 - ${sql.lit(free)})`
  return sql`(case when ${over} < 0 then 0 when ${over} > ${sql.lit(most)} then ${sql.lit(MAX_DELAY_MS)} else ${sql.lit(DELAY_MS)} * (1 << ${over}) end)`
}

/** After a successful sign-in: forgets the failures of the pair, or of the device; others keep theirs. */
export async function clearSignInAttempts({ db }: Store, attempt: SignInAttempt): Promise<void> {
  const [own, ...others] = subjectsOf(attempt).map(({ name }) => name)
  await db.deleteFrom('sign_in_tries').where('subject', '=', own!).execute()
  if (others.length === 0) return
  await db.updateTable('sign_in_tries').set({ tries: sql`tries - 1` }).where('subject', 'in', others).execute()
}

function tooManyAttempts(ms: number): GatewayError {
  const seconds = Math.ceil(ms / 1000)
  return new GatewayError('too_many_sign_in_attempts', { values: { seconds }, headers: { 'retry-after': String(seconds) } })
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
