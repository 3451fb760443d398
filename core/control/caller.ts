import type { Context } from 'koa'
import type { Actor } from '../accounts/audit.ts'
import { findSession, isSessionOpen } from '../accounts/sessions.ts'
import { GatewayError } from '../errors.ts'
import { findAdminKey } from '../keys/principal.ts'
import { sessionCookie } from './cookies.ts'
import type { ManagementServices } from './services.ts'

/** The caller of an operation: a user who signed in, or a program with an admin key. */
export interface Caller extends Actor {
  readonly role: 'member' | 'admin'
  readonly account: { readonly id: string; readonly name: string }
  readonly address: string
  /** Of a user; absent for a program. */
  readonly session?: {
    readonly digest: string
    readonly email: string
    readonly hasPassword: boolean
    readonly confirmedUntil: number
  }
}

/** The header that carries an admin key. It takes precedence over a cookie. */
const BEARER = /^bearer +([!-~]+)$/i

/** Authenticates a request. Throws `not_signed_in`, or what the database threw. */
export async function authenticate(ctx: Context, { store, urls }: ManagementServices, address: string): Promise<Caller> {
  const authorization = ctx.get('authorization')
  if (authorization !== '') {
    const key = await findAdminKey(store, BEARER.exec(authorization)?.[1] ?? '')
    if (key === undefined) throw new GatewayError('not_signed_in')
    return { ...key, role: 'admin', address }
  }
  const token = ctx.cookies.get(sessionCookie(urls()).name)
  const session = token === undefined ? undefined : await findSession(store, token)
  if (session === undefined) throw new GatewayError('not_signed_in')
  const { digest, confirmedUntil } = session
  const { id, name, role, account, email, hasPassword } = session.user
  return { id, name, role, account, address, session: { digest, email, hasPassword, confirmedUntil } }
}

/** Throws `confirmation_required` for a user who has not entered the password for a while. A program with an admin key has none. */
export function checkConfirmed({ session }: Caller): void {
  if (session !== undefined && session.confirmedUntil <= Date.now()) throw new GatewayError('confirmation_required')
}

/** Whether the caller of a long reply is still authenticated. Does not count as a use of the session. */
export async function isStillAuthenticated(
  ctx: Context,
  services: ManagementServices,
  { session, address }: Caller,
): Promise<boolean> {
  if (session !== undefined) return isSessionOpen(services.store, session.digest)
  return authenticate(ctx, services, address).then(
    () => true,
    (error: unknown) => !(error instanceof GatewayError),
  )
}

/**
 * The account that a list is limited to: a member's own, or the one an admin requests; undefined: all. For a member no other account
 * exists. Throws `object_not_found`.
 */
export function accountScope(caller: Caller, requested?: string): string | undefined {
  if (caller.role === 'admin') return requested
  if (requested !== undefined && requested !== caller.account.id)
    throw new GatewayError('object_not_found', { values: { what: 'account' } })
  return caller.account.id
}
