/**
 * JSON that an upstream wrote, which is as untrusted as a client's: its depth and its objects are counted before it is parsed, with the
 * bounds of requests (docs/decisions/replies-of-upstreams.md).
 */
import { checkBounds, type Member, ScanError, type ScannedObject, scanObject } from './json.ts'

/** A text up to this size, in bytes or characters, has too few levels and objects to do harm. Nearly all events of streams are shorter. */
const HARMLESS = 1024

/** The most elements and members: eight megabytes of one-digit numbers would take a tenth of a second. Vectors are parsed in a thread. */
export const MAX_VALUES = 500_000

/** Parses JSON of an upstream. Undefined if it is none, or beyond the bounds. */
export function parseUpstream(json: string | Buffer): unknown {
  try {
    return parseWithin(json, MAX_VALUES)
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof ScanError) return undefined
    throw error
  }
}

/** The same, and an object; undefined if it is anything else. */
export function parseUpstreamObject(json: string | Buffer): Readonly<Record<string, unknown>> | undefined {
  const value = parseUpstream(json)
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : undefined
}

/** Parses JSON with at most so many elements and members. Throws a SyntaxError, or a `ScanError` if it is beyond the bounds. */
export function parseWithin(json: string | Buffer, mostValues: number): unknown {
  if (json.length > HARMLESS) checkBounds(typeof json === 'string' ? Buffer.from(json) : json, mostValues)
  return JSON.parse(typeof json === 'string' ? json : json.toString('utf8'))
}

/** Throws `ScanError` for a text whose objects or depth are beyond the bounds. What is no JSON passes: whoever parses it finds out as soon. */
export function expectWithinBounds(text: string): void {
  if (text.length <= HARMLESS) return
  try {
    checkBounds(Buffer.from(text), MAX_VALUES)
  } catch (error) {
    if (!(error instanceof ScanError) || (error.code !== 'syntax' && error.code !== 'not_an_object')) throw error
  }
}

/** Whether a text has no more objects and levels than the bounds. */
export function isWithinBounds(text: string): boolean {
  try {
    expectWithinBounds(text)
    return true
  } catch (error) {
    if (error instanceof ScanError) return false
    throw error
  }
}

/** A member up to this size, in bytes, is parsed: usages, errors, ids and types are shorter. */
const MAX_READ = 64 * 1024

/** How lists begin: of objects, and without anything. */
const OBJECTS = /^\[\s*\{/
const EMPTY = /^\[\s*\]/

/** A whole reply: its bytes, and its top-level members, which are parsed one by one. */
export class ScannedReply {
  /** The upstream's bytes. */
  readonly bytes: Buffer
  readonly #scanned: Buffer
  readonly #members: readonly Member[]

  /** `scanned`: the bytes that `members` are offsets of, if they stand for the reply's own. */
  constructor(bytes: Buffer, { members }: ScannedObject, scanned = bytes) {
    this.bytes = bytes
    this.#scanned = scanned
    this.#members = members
  }

  /** Whether a member is there and not null. */
  has(key: string): boolean {
    const member = this.#find(key)
    return member !== undefined && this.#scanned[member.start] !== NULL
  }

  /** Whether a member is a list that begins with an object. */
  listsObjects(key: string): boolean {
    return OBJECTS.test(this.#beginOf(key))
  }

  /** Whether a member is a list with nothing in it. */
  isEmptyList(key: string): boolean {
    return EMPTY.test(this.#beginOf(key))
  }

  /** Whether a member is a text. */
  isText(key: string): boolean {
    return this.#beginOf(key).startsWith('"')
  }

  /** The first characters of a member; '' if it is absent. */
  #beginOf(key: string): string {
    const member = this.#find(key)
    return member === undefined ? '' : this.#scanned.toString('latin1', member.start, member.start + 64)
  }

  /** The value of a member; undefined if it is absent, or too large to be what is looked for. */
  get(key: string): unknown {
    const member = this.#find(key)
    return member === undefined || member.end - member.start > MAX_READ ? undefined : this.#parse(member)
  }

  /** The value of a member of any size; undefined if it is absent, or beyond the bounds. */
  read(key: string): unknown {
    const member = this.#find(key)
    return member && this.#parse(member)
  }

  /** The values of several members. */
  pick(...keys: readonly string[]): Readonly<Record<string, unknown>> {
    return Object.fromEntries(keys.map((key) => [key, this.get(key)]))
  }

  #parse({ start, end }: Member): unknown {
    return parseUpstream(this.#scanned.subarray(start, end))
  }

  /** The last of two of a name: so does JSON.parse, and so do clients. */
  #find(key: string): Member | undefined {
    return this.#members.findLast((member) => member.key === key)
  }
}

/** The first byte of `null`. */
const NULL = 0x6e

/** Scans a whole reply on the event loop; `scanned`: a part that stands for it. Undefined if it is no JSON object, or beyond the bounds. */
export function scanReply(bytes: Buffer, scanned = bytes): ScannedReply | undefined {
  try {
    return new ScannedReply(bytes, scanObject(scanned), scanned)
  } catch (error) {
    if (error instanceof ScanError) return undefined
    throw error
  }
}
