import { createHash } from 'node:crypto'
import { Secret } from './secret.ts'

/**
 * Tells whether two configs are the same, secrets' values included, without holding a secret: a digest of what the config says,
 * whatever the order in which it says it.
 */
export function fingerprint(config: unknown): string {
  return sha256(JSON.stringify(config, canonical) ?? '')
}

/** `this` is the object that holds the value: a Secret makes itself unreadable before the value is handed on. */
function canonical(this: Readonly<Record<string, unknown>>, key: string, value: unknown): unknown {
  const held = this[key]
  if (held instanceof Secret) return sha256(held.reveal())
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)))
}

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
