import { crc32 } from 'node:zlib'
import { BASE62, randomBase62 } from '../text/ids.ts'

/** The sandbox answers calls with a `test` key, for free. An `admin` key authenticates at the management API, and can call no model. */
export type KeyKind = 'live' | 'test' | 'admin'

/**
 * `sk-live-`, `sk-test-` or `sk-admin-`, 30 random base62 characters (178 bits), 6 base62 characters of the CRC-32 of all before them.
 * The checksum detects a typo without a query; it proves nothing.
 */
const FORMAT = /^sk-(live|test|admin)-[0-9A-Za-z]{36}$/
const CHECKSUM_LENGTH = 6

/** Creates a secret. It is shown once and never stored. */
export function createSecret(kind: KeyKind): string {
  const text = `sk-${kind}-${randomBase62(30)}`
  return text + checksum(text)
}

/** The kind of a secret, by its prefix; undefined if prefix, characters, length or checksum are not those of a key. */
export function kindOf(secret: string): KeyKind | undefined {
  const kind = FORMAT.exec(secret)?.[1] as KeyKind | undefined
  if (kind === undefined) return undefined
  return checksum(secret.slice(0, -CHECKSUM_LENGTH)) === secret.slice(-CHECKSUM_LENGTH) ? kind : undefined
}

/** The parts of a secret that are stored for display: `sk-live-7Fq2` and `9aXk`. */
export function maskOf(secret: string): { readonly prefix_shown: string; readonly last_four: string } {
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
