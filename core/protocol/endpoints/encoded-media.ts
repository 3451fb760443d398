import { parseUpstreamObject } from '../upstream-json.ts'

/** The start of a member whose text is base64: of a picture, or of sound. In text the quotes would be escaped. */
const ENCODED = /"(?:b64_json|audio)"\s*:\s*"/g

/** A text up to this size, in characters, is parsed as it is. */
const SMALL = 16 * 1024

/**
 * Parses JSON without its long base64 texts, which are left empty: a picture has megabytes that nothing but a client reads. Undefined if it
 * is not a JSON object.
 */
export function parseUnencoded(json: string): object | undefined {
  return parseUpstreamObject(json.length > SMALL ? withoutEncoded(json) : json)
}

function withoutEncoded(json: string): string {
  let kept = ''
  let at = 0
  ENCODED.lastIndex = 0
  while (ENCODED.exec(json) !== null) {
    kept += json.slice(at, ENCODED.lastIndex)
    // Base64 has no escapes: the next quote is the end.
    at = json.indexOf('"', ENCODED.lastIndex)
    if (at < 0) return kept
    ENCODED.lastIndex = at + 1
  }
  return kept + json.slice(at)
}
