import { GatewayError } from '../../errors.ts'
import type { Caller } from './caller.ts'

/**
 * The account to which a list is narrowed: a member's own, or the one an admin asks for; undefined is all of them. To a member other
 * accounts are not there. Throws `object_not_found`.
 */
export function accountSeenBy(caller: Caller, asked?: string): string | undefined {
  if (caller.role === 'admin') return asked
  if (asked !== undefined && asked !== caller.account.id)
    throw new GatewayError('object_not_found', { values: { what: 'account' } })
  return caller.account.id
}
