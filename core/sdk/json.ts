/** Whether a value is a JSON object: not null, not an array. */
export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** The JSON object in a text; undefined if the text is anything else. */
export function parseRecord(text: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined
  }
}

/** An upstream's value as a text: '' for anything but a string. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : ''
}

/** Whether an upstream's value is a number of tokens: an integer from 0. */
export const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && (value as number) >= 0

/** An upstream's value as a number of tokens: 0 for anything but a positive integer. */
export function countOf(value: unknown): number {
  return typeof value === 'number' && Number.isSafeInteger(value) && value > 0 ? value : 0
}

/** The content of a base64 `data:` URL. */
export interface InlineData {
  /** Lower case, without parameters: `image/png`. */
  readonly mediaType: string
  /** Base64, unchanged. */
  readonly data: string
}

/** Reads `data:<type>;base64,…` (RFC 2397); undefined for anything else. */
export function readDataUrl(url: string): InlineData | undefined {
  const comma = url.indexOf(',')
  const [mediaType = '', ...options] = url.slice('data:'.length, Math.max(comma, 0)).toLowerCase().split(';')
  const isData = url.slice(0, 'data:'.length).toLowerCase() === 'data:' && options.at(-1)?.trim() === 'base64'
  return isData ? { mediaType: mediaType.trim(), data: url.slice(comma + 1) } : undefined
}
