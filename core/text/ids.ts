import { hash, randomInt, randomUUID } from 'node:crypto'

/** The digits of base 62: no punctuation, so that a double click selects all of an id or a key. */
export const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** Random characters of the CSPRNG, each of the 62 equally likely. */
export function randomBase62(length: number): string {
  return Array.from({ length }, () => BASE62[randomInt(BASE62.length)]).join('')
}

/** The id of a new object: `key_` and 20 random characters. */
export function newId(prefix: 'acc' | 'inv' | 'key' | 'usr'): string {
  return `${prefix}_${randomBase62(20)}`
}

/** When the last id was made, and how it begins: under load many are made in one millisecond. */
let now = 0
let beginning = ''

/**
 * A new request id: `req_`, 12 hexadecimal digits of the time, 20 of chance (74 bits), as in a UUID of version 7. Ids of calls stand in
 * the order in which they came, so that a stretch of time is a stretch of ids.
 */
export function newRequestId(): string {
  const time = Date.now()
  if (time !== now) {
    now = time
    beginning = firstRequestId(time)
  }
  const chance = randomUUID()
  return beginning + chance.slice(14, 18) + chance.slice(19, 23) + chance.slice(24)
}

/** Less than every id of this time (ms since 1970) and later, and more than every one before. */
export function firstRequestId(time: number): string {
  return `req_${Math.max(time, 0).toString(16).padStart(12, '0')}`
}

/** When a request came, by its id. */
export function timeOfRequest(id: string): number {
  return Number.parseInt(id.slice(4, 16), 16)
}

/**
 * What is stored of a secret, and how it is found again: hex SHA-256. Guessing 178 random bits needs no slow hash to be hopeless,
 * and a look-up by digest tells nothing by its time: who cannot invert SHA-256 cannot choose digests that begin alike.
 */
export function digestOf(secret: string): string {
  return hash('sha256', secret, 'hex')
}
