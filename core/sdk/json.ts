/** An object made of braces: not null, not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON object a text holds; undefined where it holds none. */
export function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** What a base64 `data:` URL carries. */
export interface InlineData {
  /** Lower case, without parameters: `image/png`. */
  readonly mediaType: string
  /** Base64, as it came. */
  readonly data: string
}

/** Reads `data:<type>;base64,…` (RFC 2397); undefined for anything else. */
export function readDataUrl(url: string): InlineData | undefined {
  const comma = url.indexOf(',')
  const [mediaType = '', ...options] = url.slice('data:'.length, Math.max(comma, 0)).toLowerCase().split(';')
  const isData = url.slice(0, 'data:'.length).toLowerCase() === 'data:' && options.at(-1)?.trim() === 'base64'
  return isData ? { mediaType: mediaType.trim(), data: url.slice(comma + 1) } : undefined
}
