import { randomBytes } from 'node:crypto'

/**
 * The link of the first setup. The token is in the fragment, which a browser never sends: so no log and no `Referer` contains it.
 * `origin`: of the console.
 */
export const setupLink = (origin: string, token: string): string => `${origin}/console/setup#${token}`

/** The link of an invitation, its token in the fragment too. */
export const invitationLink = (origin: string, token: string): string => `${origin}/console/invitation#${token}`

/** Creates a bearer token of 256 random bits, for a cookie or a link. Only its digest is stored. */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}
