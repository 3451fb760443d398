import { randomInt } from 'node:crypto'

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
