import type { Urls } from './parts.ts'

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
