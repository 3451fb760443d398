import { randomBytes } from 'node:crypto'

/**
 * 256 random bits, for a cookie or a link. Whoever holds it is let in: it is shown once, and only its digest is stored (`digestOf` of
 * keys, for the same reason).
 */
export function createToken(): string {
  return randomBytes(32).toString('base64url')
}
