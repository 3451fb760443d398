import { randomUUID } from 'node:crypto'

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

// What an upstream wrote: null counts as absent, and a value of another type is an Error, so that another target answers instead of a reply in which
// something is missing (docs/decisions/shapes-of-replies.md).

/** A text; '' if it is absent. `what`: the member, for the log. Throws an Error for anything else. */
export function expectText(value: unknown, what: string): string {
  if (value == null) return ''
  if (typeof value !== 'string') throw unknownShape(what)
  return value
}

/** An object; undefined if it is absent. Throws an Error for anything else. */
export function expectObject(value: unknown, what: string): Readonly<Record<string, unknown>> | undefined {
  if (value == null) return undefined
  if (!isRecord(value)) throw unknownShape(what)
  return value
}

/** A list of objects, without its nulls; empty if it is absent. Throws an Error for anything else. */
export function expectObjects(value: unknown, what: string): readonly Readonly<Record<string, unknown>>[] {
  if (value == null) return []
  if (!Array.isArray(value)) throw unknownShape(what)
  return value.filter((one) => one !== null).map((one) => expectObject(one, `an element of ${what}`)!)
}

/** The name of a tool. Throws an Error if there is none: nobody could run it. */
export function expectName(value: unknown): string {
  if (typeof value !== 'string' || value === '') throw unknownShape('the name of a tool')
  return value
}

/** The id of a tool call, which some servers write as a number; a new one if it is absent. Throws an Error for anything else. */
export function expectCallId(value: unknown): string {
  if (typeof value === 'number') return String(value)
  return expectText(value, 'the id of a tool call') || `call_${randomUUID()}`
}

/**
 * The arguments of a tool call, an object, as JSON; `{}` if they are absent. `others`: the members of the call whose names are not known: one of them
 * may be what is absent. Throws an Error then, and for anything else.
 */
export function expectArguments(value: unknown, others: object = {}): string {
  if (value == null && Object.keys(others).length > 0) throw unknownShape('a tool call')
  return JSON.stringify(expectObject(value, 'the arguments of a tool call') ?? {})
}

/** The Error for a shape that has no single meaning. */
export const unknownShape = (what: string): Error => new Error(`unknown shape: ${what}`)
