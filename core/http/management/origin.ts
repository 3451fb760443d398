import type { IncomingMessage } from 'node:http'
import { GatewayError } from '../../errors.ts'

/**
 * Refuses a change that another site's page asks a browser for, with the cookies of whoever sits before it. Browsers say where a
 * request comes from by `Sec-Fetch-Site`, and over plain HTTP by `Origin`; a page can neither forge nor withhold them. `own`: the
 * console's origin, for a proxy that calls us by another name. Throws `foreign_origin`.
 */
export function checkOrigin({ headers }: IncomingMessage, own: string): void {
  if (headers.authorization !== undefined) return
  const site = headers['sec-fetch-site']
  const { origin } = headers
  // Without either it is no browser, which could only hurt itself; but then what is the cookie for?
  const ours =
    site !== undefined
      ? site === 'same-origin'
      : origin !== undefined
        ? origin === own || origin === `http://${headers.host}` || origin === `https://${headers.host}`
        : headers.cookie === undefined
  if (!ours) throw new GatewayError('foreign_origin')
}
