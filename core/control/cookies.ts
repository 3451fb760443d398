import type { Urls } from './services.ts'

/** A cookie without its value. */
export interface Cookie {
  readonly name: string
  readonly attributes: string
}

/** The cookie of a session: unreadable to scripts, and never sent by a request from another site. */
export const sessionCookie = (urls: Urls): Cookie => cookie(urls, 'umg_session', 'SameSite=Strict')

/**
 * The cookie of a sign-in under way at the OpenID provider, whose redirect back must carry it: a strict cookie would not be sent. Ten
 * minutes to authenticate there.
 */
export const signInCookie = (urls: Urls): Cookie => cookie(urls, 'umg_sign_in', 'SameSite=Lax; Max-Age=600')

/** The cookie of a browser that a user has signed in with (`core/accounts/known-devices.ts`): a year, so that it outlives holidays. */
export const deviceCookie = (urls: Urls): Cookie => cookie(urls, 'umg_device', 'SameSite=Strict; Max-Age=31536000')

/** The value of a `set-cookie` header that sets a cookie, or removes it if `value` is empty. */
export function setCookie({ name, attributes }: Cookie, value: string): string {
  return `${name}=${value}; ${attributes}${value === '' ? '; Max-Age=0' : ''}`
}

/** With TLS it is bound to the host by the prefix `__Host-` (RFC 6265bis §4.1.3.2), which some browsers reject without TLS. */
function cookie({ people }: Urls, name: string, attributes: string): Cookie {
  const secure = people.startsWith('https:')
  return { name: secure ? `__Host-${name}` : name, attributes: `Path=/; HttpOnly; ${attributes}${secure ? '; Secure' : ''}` }
}
