import type { Context } from 'koa'
import type { Actor } from '../accounts/audit.ts'
import { findSession, isSessionOpen } from '../accounts/sessions.ts'
import { GatewayError } from '../errors.ts'
import { findAdminKey } from '../keys/admin-key.ts'
import type { ManagementServices, Role, Urls } from './operation.ts'

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
export async function callerOf(ctx: Context, { store, urls }: ManagementServices, address: string): Promise<Caller> {
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
export async function isStillIn(ctx: Context, services: ManagementServices, { session, address }: Caller): Promise<boolean> {
  if (session !== undefined) return isSessionOpen(services.store, session.digest)
  return callerOf(ctx, services, address).then(
    () => true,
    (error: unknown) => !(error instanceof GatewayError),
  )
}

/** Refuses who may not call a route. Throws `admin_required`. */
export function checkRole(caller: Caller, role: Role): void {
  if (role === 'admin' && caller.role !== 'admin') throw new GatewayError('admin_required')
}

/** A cookie as it is set: its name, and all that stands behind its value. */
export interface CookieKind {
  readonly name: string
  readonly attributes: string
}

/** The session's: of no other host's pages, of no script, and never sent along from another site. */
export const sessionCookie = (urls: Urls): CookieKind => kind(urls, 'umg_session', 'SameSite=Strict')

/**
 * What a sign-in at the OpenID provider began with. It must come along when the provider sends the browser back, which a strict
 * cookie would not; ten minutes are long enough to type a password there.
 */
export const signInCookie = (urls: Urls): CookieKind => kind(urls, 'umg_sign_in', 'SameSite=Lax; Max-Age=600')

/** The value of `set-cookie` that sets a cookie, or with an empty value removes it. */
export function setCookie({ name, attributes }: CookieKind, value: string): string {
  return `${name}=${value}; ${attributes}${value === '' ? '; Max-Age=0' : ''}`
}

/**
 * Behind TLS it is bound to the host (RFC 6265bis §4.1.3.2). Without TLS, as on a laptop, browsers differ in whether they keep such
 * a cookie, and some do not.
 */
function kind({ people }: Urls, name: string, attributes: string): CookieKind {
  const secure = people.startsWith('https:')
  return { name: secure ? `__Host-${name}` : name, attributes: `Path=/; HttpOnly; ${attributes}${secure ? '; Secure' : ''}` }
}
