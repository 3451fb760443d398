/** A reply of the embeddings endpoint, as far as it is looked at. */
export interface Outline {
  readonly data?: unknown
  readonly usage?: { readonly prompt_tokens?: unknown }
  readonly error?: unknown
}

/** Up to this size a reply is parsed whole at once; the vectors of a larger one would hold up the event loop. Bytes. */
const WHOLE_BELOW = 64 * 1024

/** A reply, of whose vectors the last one may stand for all. Undefined for what is none. */
export function outline(bytes: Buffer): Outline | undefined {
  return (bytes.length > WHOLE_BELOW ? shortened(bytes) : undefined) ?? parse(bytes.toString('utf8'))
}

/** Parses what stands before the vectors with what stands from the last one on: native searches find both. */
function shortened(bytes: Buffer): Outline | undefined {
  const data = bytes.indexOf('"data"')
  const last = bytes.lastIndexOf('"embedding":')
  if (data < 0 || last < data) return undefined
  return parse(`${bytes.toString('utf8', 0, data)}"data":[{${bytes.toString('utf8', last)}`)
}

/** Undefined for what is no JSON object. */
function parse(text: string): Outline | undefined {
  try {
    const value = JSON.parse(text)
    return typeof value === 'object' && value !== null ? value : undefined
  } catch {
    return undefined
  }
}
