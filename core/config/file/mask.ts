import type { Span } from './config-file.ts'

/** A whole API key: it has a digit or a capital, or is too long to be a word of prose such as `sk-test-`. */
export const API_KEY = /\bsk-(?:(?=[\w-]*[A-Z0-9])[\w-]{5,}|[\w-]{13,})/g

const KEY_OR_PIECE = /\bsk-\w[\w-]*/g

/** A value after a name that sounds like a credential. This is all that can be recognised if the YAML is broken. */
const CREDENTIAL =
  /(key|secret|token|password|credential|authorization)["']?[ \t]*:[ \t]*(?!["']?\$\{|\*)("[^"\n]*"?|'[^'\n]*'?|[^\s{[][^\n]*)/gi

/** The text with a star for each character of the given spans, and of everything that looks like a credential. */
export function mask(text: string, spans: readonly Span[]): string {
  const hidden = spans.reduce(
    (masked, [start, end]) => masked.slice(0, start) + stars(masked.slice(start, end)) + masked.slice(end),
    text,
  )
  return maskKeys(hidden.replace(CREDENTIAL, (whole, _name, value: string) => whole.slice(0, -value.length) + stars(value)))
}

/** The text with a star for each character of everything that looks like an API key or a piece of one. */
export function maskKeys(text: string): string {
  return text.replace(KEY_OR_PIECE, stars)
}

const stars = (text: string): string => text.replace(/[^\n\r]/g, '*')
