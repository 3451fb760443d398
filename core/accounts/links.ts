import { randomBytes } from 'node:crypto'

/**
 * Where the console takes a token from. It stands behind the `#`: what stands there a browser keeps to itself, so that no log on the
 * way and no `Referer` has it. `origin`: where people reach the console.
 */
export const setupLink = (origin: string, token: string): string => `${origin}/console/setup#${token}`

/** The link of an invitation: as that of the setup. */
export const invitationLink = (origin: string, token: string): string => `${origin}/console/invitation#${token}`

/**
 * 256 random bits, for a cookie or a link. Whoever holds it is let in: it is shown once, and only its digest is stored (`digestOf` of
 * keys, for the same reason).
 */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}
