import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../errors.ts'

/**
 * Refuses a change that another site's page asks a browser for, with the cookies of whoever sits before it. Browsers say where a
 * request comes from by `Sec-Fetch-Site`, and over plain HTTP by `Origin`; a page can neither forge nor withhold them. `own`: the
 * console's origin, for a proxy that calls us by another name. Throws `foreign_origin`.
 */
export function checkOrigin({ headers }: IncomingMessage, own: string): void {
  const { authorization, cookie, origin, 'sec-fetch-site': site } = headers
  // No page can send a header of its own to another site unless that agrees, which we never do.
  if (authorization !== undefined) return
  if (site !== undefined ? site === 'same-origin' : isOurs(origin, headers.host, own)) return
  // Neither of the two: it is no browser, and nobody's cookie is used behind their back.
  if (site === undefined && origin === undefined && cookie === undefined) return
  throw new GatewayError('foreign_origin')
}

/** Behind TLS browsers say more than the origin: only where there is none, the name that we were called by counts. */
function isOurs(origin: string | undefined, host: string | undefined, own: string): boolean {
  return origin === own || (own.startsWith('http:') && origin === `http://${host}`)
}
