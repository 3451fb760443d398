import type { Context } from 'koa'
import type { Actor } from '../../accounts/audit.ts'
import { findSession, isSessionOpen } from '../../accounts/sessions.ts'
import { GatewayError } from '../../errors.ts'
import { findAdminKey } from '../../keys/admin-key.ts'
import { sessionCookie } from './cookies.ts'
import type { ManagementParts } from './parts.ts'
import type { Role } from './role.ts'

/** Who calls the management API: a person who signed in, or a program with an admin key. */
export interface Caller extends Actor {
  readonly role: Exclude<Role, 'nobody'>
  readonly account: { readonly id: string; readonly name: string }
  readonly address: string
  /** A person's: absent where a program calls. */
  readonly session?: { readonly digest: string; readonly email: string }
}

/** What an admin key is sent as. It comes before a cookie: who sends one means it. */
const BEARER = /^bearer +([!-~]+)$/i

/** Who sent a request. Throws `not_signed_in`, or what the database threw. */
export async function callerOf(ctx: Context, { store, urls }: ManagementParts, address: string): Promise<Caller> {
  const authorization = ctx.get('authorization')
  if (authorization !== '') {
    const key = await findAdminKey(store, BEARER.exec(authorization)?.[1] ?? '')
    if (key === undefined) throw new GatewayError('not_signed_in')
    return { ...key, role: 'admin', address }
  }
  const token = ctx.cookies.get(sessionCookie(urls()).name)
  const session = token === undefined ? undefined : await findSession(store, token)
  if (session === undefined) throw new GatewayError('not_signed_in')
  const { id, name, role, account, email } = session.user
  return { id, name, role, account, address, session: { digest: session.digest, email } }
}

/** Whether who sent a request may still read its reply, which may be a stream without end. Nothing counts as used for it. */
export async function isStillIn(ctx: Context, parts: ManagementParts, { session, address }: Caller): Promise<boolean> {
  if (session !== undefined) return isSessionOpen(parts.store, session.digest)
  return callerOf(ctx, parts, address).then(
    () => true,
    (error: unknown) => !(error instanceof GatewayError),
  )
}

/** Refuses who may not call a route. Throws `admin_required`. */
export function checkRole(caller: Caller, role: Role): void {
  if (role === 'admin' && caller.role !== 'admin') throw new GatewayError('admin_required')
}
