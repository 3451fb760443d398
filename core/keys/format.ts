import { crc32 } from 'node:zlib'
import { BASE62, randomBase62 } from '../text/ids.ts'

/**
 * The format of a key: `sk-live-`, `sk-test-` or `sk-admin-`, 30 random base62 characters (178 bits), 6 base62 characters of the CRC-32 over all
 * before them. The checksum tells a typo from a key without a look at the store; it proves nothing.
 */

/** `test` keys are answered by the sandbox and cost nothing. An `admin` key opens the management API, and no model. */
export type KeyKind = 'live' | 'test' | 'admin'

const FORMAT = /^sk-(live|test|admin)-[0-9A-Za-z]{36}$/
const CHECKSUM_LENGTH = 6

/** A new secret. It is shown to its owner once and never stored. */
export function createSecret(kind: KeyKind): string {
  const text = `sk-${kind}-${randomBase62(30)}`
  return text + checksum(text)
}

/** The kind of key that a text is by its prefix; undefined where prefix, characters, length or checksum are not a key's. */
export function kindOf(secret: string): KeyKind | undefined {
  const kind = FORMAT.exec(secret)?.[1] as KeyKind | undefined
  if (kind === undefined) return undefined
  return checksum(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH) ? kind : undefined
}

/** What is kept of a secret for its owner to know it by: `sk-live-7Fq2` and `9aXk`. */
export function shownOf(secret: string): { readonly prefix_shown: string; readonly last_four: string } {
  const random = secret.lastIndexOf('-') + 1
  return { prefix_shown: secret.slice(0, random + 4), last_four: secret.slice(-4) }
}

function checksum(text: string): string {
  let rest = crc32(text)
  let digits = ''
  for (let place = 0; place < CHECKSUM_LENGTH; place++) {
    digits = BASE62[rest % 62] + digits
    rest = Math.floor(rest / 62)
  }
  return digits
}
