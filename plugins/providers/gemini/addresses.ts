import { matchesGlob, Type, unsupportedParameter } from 'unified-model-gateway/plugin'

/**
 * The addresses of files that Google may fetch for a client, by globs. Google reads buckets, and files of its own Files API, with the rights
 * of the gateway's credential, which are not the caller's.
 */
export type Addresses = readonly string[]

/** The option `addresses` of a config. */
export const addressesOption = Type.Optional(
  Type.Array(Type.String({ pattern: '^(https?|gs)://' }), {
    description: 'Addresses of files that Google may read for clients, by globs, beside those of public web servers.',
    examples: [['gs://our-pictures/*']],
  }),
)

/** Throws `GatewayError` (400) for an address that is neither public nor allowed. `path`: its place in the client's body. */
export function expectAllowed(address: string, allowed: Addresses, path: string): void {
  if (isPublic(address) || allowed.some((glob) => matchesGlob(glob, address))) return
  throw unsupportedParameter(
    path,
    'Google would read it with the rights of this gateway: send the file itself, as a data URL. The operator may allow the address.',
  )
}

/** Names of machines that are not on the public web (RFC 6762, RFC 6761, RFC 8375, ICANN's `internal`). */
const PRIVATE = /(?:^|\.)(?:internal|local|localhost|home\.arpa|lan|intranet|corp)$/
/** Has files that only the gateway's own key can read. */
const FILES_API = 'generativelanguage.googleapis.com'

/** Whether an address is one of the web, by a name with a top-level domain: an IP address ends in a digit or a bracket. */
function isPublic(address: string): boolean {
  const url = URL.parse(address)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username !== '' || url.password !== '') return false
  const host = url.hostname.replace(/\.$/, '')
  return /\.[a-z][a-z\d-]*$/.test(host) && !PRIVATE.test(host) && host !== FILES_API
}
