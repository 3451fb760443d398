import { hash, randomFillSync, randomInt } from 'node:crypto'

/** The digits of base 62. They include no punctuation, so that a double click selects the whole id or key. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random base-62 digits of the CSPRNG, all equally likely. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('')
}

/** The id of a new object: `key_` and 20 random characters. */
export function newId(prefix: 'acc' | 'aut' | 'inv' | 'key' | 'msg' | 'prc' | 'usr'): string {
  return `${prefix}_${randomBase62(20)}`
}

/** The time of the last request id, and its first characters: under load, many ids are made in one millisecond. */
let lastTime = 0
let prefix = ''

/** The random bytes of a request id. */
const RANDOM_BYTES = 10
/** Those of the next request ids: to draw them one by one takes longer than all else that an id needs. */
const randomBytes = Buffer.alloc(400 * RANDOM_BYTES)
let drawn = randomBytes.length

/**
 * A new request id: `req_`, 12 hexadecimal digits of the time and 20 random ones (80 bits). Ids sort by the time of their calls, so that a
 * time range is a range of ids.
 */
export function newRequestId(): string {
  const time = Date.now()
  if (time !== lastTime) {
    lastTime = time
    prefix = firstRequestId(time)
  }
  if (drawn === randomBytes.length) {
    randomFillSync(randomBytes)
    drawn = 0
  }
  const from = drawn
  drawn += RANDOM_BYTES
  return prefix + randomBytes.toString('hex', from, drawn)
}

/** A lower bound of the ids of this time (ms since 1970) and later: it is greater than all earlier ids. */
export function firstRequestId(time: number): string {
  return `req_${Math.max(time, 0).toString(16).padStart(12, '0')}`
}

/** The time of a request (ms since 1970), by its id. */
export function timeOfRequest(id: string): number {
  return Number.parseInt(id.slice(4, 16), 16)
}

/**
 * The digest of a secret, hex SHA-256: it is stored and looked up in place of the secret. 178 random bits cannot be guessed, so no
 * slow hash is needed. The time of a look-up reveals nothing useful: nobody can find a secret for a chosen digest.
 */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}
