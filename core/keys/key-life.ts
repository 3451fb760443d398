import type { Kysely } from 'kysely'
import { DEFAULT_ACCOUNT } from '../config/schema/default-account.ts'
import { GatewayError } from '../errors.ts'
import type { Schema } from '../store/schema.ts'
import type { ApiKey } from './api-key.ts'

const DAY = 86_400_000

/**
 * The longest life of the keys of an account, in milliseconds: its own setting or that of the account `default`, whichever is shorter.
 * Infinite if neither has one.
 */
export async function longestLife(db: Kysely<Schema>, account: string): Promise<number> {
  const { days } = await db
    .selectFrom('accounts')
    .select(({ fn }) => fn.min('max_key_days').as('days'))
    .where('id', 'in', [account, DEFAULT_ACCOUNT])
    .executeTakeFirstOrThrow()
  return days === null ? Number.POSITIVE_INFINITY : days * DAY
}

/** A life in days. */
export const daysOf = (life: number): number => life / DAY

/** The times of a key, in milliseconds since 1970. */
type Times = Pick<ApiKey, 'createdAt' | 'expiresAt'>

/** Whether a key that was made before the limit may live longer than a new one. `longest`: of `longestLife`. */
export const outlives = ({ createdAt, expiresAt = Number.POSITIVE_INFINITY }: Times, longest: number): boolean =>
  expiresAt > createdAt + longest

/** Throws `invalid_value` if a key may not get an expiry. `expires`: null for never. `longest`: of `longestLife`. */
export function checkLife(expires: number | null, key: Times, longest: number): void {
  const { createdAt, expiresAt = Number.POSITIVE_INFINITY } = key
  // What lives too long may be shortened to the life of a new key, whenever it was made.
  const latest = Math.max(createdAt + longest, Math.min(expiresAt, Date.now() + longest))
  if ((expires ?? Number.POSITIVE_INFINITY) <= latest) return
  const detail = `keys of this account live ${daysOf(longest)} days at most, counted from their creation; give ${new Date(latest).toISOString()} or earlier`
  throw new GatewayError('invalid_value', { param: 'expires_at', values: { detail } })
}
