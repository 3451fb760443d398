import type { Media } from '../sdk/api.ts'

/**
 * Scans the bytes of a JSON object for its top-level members without building values: a large body costs one pass over its bytes.
 * The scan checks structure, nesting and literals, not the inside of strings and numbers.
 */

import { addressKind, type FoundAddress, isContent, MAX_ADDRESS, mayBeAddress } from './addresses.ts'
import { MAX_TYPE, mayBeMedium, mediumOf, NO_MEDIA } from './media.ts'

/** One top-level member: its decoded key, and the offsets of its key and its value. */
export interface Member {
  readonly key: string
  /** Offset of the key's opening quote. */
  readonly at: number
  /** Offsets of the value: first byte, and one past the last. */
  readonly start: number
  readonly end: number
}

/** A member below the top level, of those that a scan looks for. */
export interface NestedMember {
  /** The keys and indexes that lead to it, from the top level on; its own key is the last. */
  readonly path: readonly (string | number)[]
  /** Offset of the object that it is a member of. */
  readonly object: number
  /** Offset of the value. */
  readonly start: number
}

/** The outline of a JSON object. */
export interface ScannedObject {
  /** In order, duplicates included. */
  readonly members: readonly Member[]
  /** Number of objects and arrays below the top level. */
  readonly parts: number
  /** The parts below the top level that are of the type of a medium, so that the body has no more media than these. */
  readonly media: Media
  /** The addresses in the members that were to be searched for them, without those of data URLs. */
  readonly addresses: readonly FoundAddress[]
  /** The members below the top level whose keys were looked for. In order, duplicates included. */
  readonly nested: readonly NestedMember[]
  /** Which of the marks below the top level the body has. */
  readonly marks: readonly string[]
  /** The members `name` below the top level whose text is not a plain word, if they were looked for. In order, duplicates included. */
  readonly names: readonly NestedMember[]
}

/** What a scan looks for below the top level: keys, in every form that some server takes for them. */
export interface WantedMembers {
  readonly names: readonly string[]
  /** By name, the list at the top level of whose items it has to be a member. Of others, the place does not matter. */
  readonly itemsOf: Readonly<Record<string, string>>
  /** Names of objects, at any level, whose member `id` is looked for. */
  readonly idsOf: readonly string[]
  /** Keys whose presence counts, in this very form. */
  readonly marks: readonly string[]
  /** Whether to look for members `name` whose text is not a plain word. */
  readonly tellsNames: boolean
  /** Keys below which nothing is looked for. */
  readonly data: readonly string[]
}

/** Members to look for, for fast look-ups. */
export class WantedKeys {
  readonly tellsNames: boolean
  readonly #itemsOf: ReadonlyMap<string, string>
  readonly #marks: ReadonlySet<string>
  readonly #data: ReadonlySet<string>
  /** Matches keys that servers in Go take for a wanted one: `Model`, `ſkill_id`. */
  readonly #pattern: RegExp
  readonly #names: ReadonlySet<string>
  readonly #idsOf: RegExp
  /** By length and first letter, the last letters as bits: most keys need no further look. */
  readonly #ends = new Uint32Array(MAX_WANTED * LETTERS)
  readonly #endsOfData = new Uint32Array(MAX_WANTED * LETTERS)

  /** All names are ASCII letters and underscores, in all forms of less than 64 bytes. */
  constructor({ names, itemsOf, idsOf, marks, tellsNames, data }: WantedMembers) {
    this.tellsNames = tellsNames
    this.#itemsOf = new Map(Object.entries(itemsOf))
    this.#marks = new Set(marks)
    this.#data = new Set(data)
    this.#names = new Set(names)
    this.#pattern = anyOf(names)
    this.#idsOf = anyOf(idsOf)
    for (const name of [...names, ...idsOf]) for (const form of formsOf(name)) noteEnds(this.#ends, form)
    for (const name of marks) noteEnds(this.#ends, name)
    for (const name of data) noteEnds(this.#endsOfData, name)
  }

  /** Whether a key without escapes needs a look, by its first and last byte, its length in bytes, and whether its value is a container. */
  mayHave(first: number, last: number, length: number, isContainer: boolean): boolean {
    if (length >= MAX_WANTED) return false
    const at = placeOf(length, first)
    const bits = isContainer ? this.#ends[at]! | this.#endsOfData[at]! : this.#ends[at]!
    return (bits & (1 << (last & 31))) !== 0
  }

  isMark(key: string): boolean {
    return this.#marks.has(key)
  }

  isData(key: string): boolean {
    return this.#data.has(key)
  }

  has(key: string): boolean {
    return this.#names.has(key) || this.#pattern.test(key)
  }

  /** Whether the `id` of objects of this name is wanted. */
  hasIdsOf(key: string): boolean {
    return this.#idsOf.test(key)
  }

  itemsOf(key: string): string | undefined {
    return this.#itemsOf.get(key.toLowerCase())
  }
}

const anyOf = (names: readonly string[]): RegExp => new RegExp(`^(?:${names.join('|')})$`, 'iu')

const MAX_WANTED = 64
/** The last five bits are the same for both cases of a letter. */
const LETTERS = 32
const placeOf = (length: number, first: number): number => length * LETTERS + (first & 31)

function noteEnds(ends: Uint32Array, name: string): void {
  const bytes = Buffer.from(name)
  ends[placeOf(bytes.length, bytes[0]!)]! |= 1 << (bytes.at(-1)! & 31)
}

/** A name with all letters for which servers in Go take another one: `ſ` for `s`, the Kelvin sign for `k`. */
function formsOf(name: string): readonly string[] {
  let forms = ['']
  for (const letter of name) forms = forms.flatMap((form) => [letter, ...(TWINS[letter] ?? [])].map((twin) => form + twin))
  return forms
}

const TWINS: Readonly<Record<string, readonly string[]>> = { s: ['ſ'], k: ['\u212a'] }

/** Why bytes are not an acceptable JSON object. */
export type ScanErrorCode = 'not_an_object' | 'syntax' | 'too_deep' | 'too_many_members' | 'too_many_parts' | 'too_many_addresses'

/** Thrown by `scanObject`. */
export class ScanError extends Error {
  override readonly name = 'ScanError'
  readonly code: ScanErrorCode

  constructor(fault: ScanErrorCode) {
    super(fault)
    this.code = fault
  }
}

/** Maximum nesting below the top level. JSON.stringify and recursive readers overflow at some thousands. */
export const MAX_DEPTH = 64

const MAX_MEMBERS = 256
/**
 * Maximum of objects and arrays below the top level, in all members together. Bodies are parsed on the event loop: strings of any
 * length cost little, but a million small objects block it for a second.
 */
export const MAX_PARTS = 50_000
/** A native search costs as much as a loop over about this many bytes. */
const LOOP_BYTES = 32
/** The bytes of a long text that tell whether it is an address. */
const BEGINNING = 64

const QUOTE = 0x22
const BACKSLASH = 0x5c
const COLON = 0x3a
const COMMA = 0x2c
const OPEN_OBJECT = 0x7b
const CLOSE_OBJECT = 0x7d
const OPEN_ARRAY = 0x5b
const CLOSE_ARRAY = 0x5d

/** What a scan finds below the top level. */
export interface Sought {
  readonly keys: WantedKeys | undefined
  /** The top-level members to search for addresses. */
  readonly fetched: ReadonlySet<string> | undefined
}

/** Scans a JSON object. `sought`: what to find below the top level. Throws `ScanError`. */
export function scanObject(bytes: Buffer, sought?: Sought): ScannedObject {
  parts = 0
  found = undefined
  values = Number.NEGATIVE_INFINITY
  wanted = sought?.keys
  nested = undefined
  namedAt.fill(0)
  marks = undefined
  typeAt = 0
  media.pictures = 0
  media.files = 0
  names = undefined
  let at = skipSpace(bytes, 0)
  if (bytes[at] !== OPEN_OBJECT) throw new ScanError(at < bytes.length ? 'not_an_object' : 'syntax')
  const members: Member[] = []
  at = skipSpace(bytes, at + 1)
  if (bytes[at] !== CLOSE_OBJECT) {
    for (;;) {
      const member = readMember(bytes, at, sought)
      if (members.push(member) > MAX_MEMBERS) throw new ScanError('too_many_members')
      at = skipSpace(bytes, member.end)
      if (bytes[at] === CLOSE_OBJECT) break
      if (bytes[at] !== COMMA) throw new ScanError('syntax')
      at = skipSpace(bytes, at + 1)
    }
  }
  if (skipSpace(bytes, at + 1) !== bytes.length) throw new ScanError('syntax')
  return {
    members,
    parts,
    media: media.pictures + media.files === 0 ? NO_MEDIA : { ...media },
    addresses: found ?? NONE,
    nested: nested ?? NONE_NESTED,
    marks: marks ?? NO_MARKS,
    names: names ?? NONE_NESTED,
  }
}

/**
 * Scans JSON of any kind for its bounds: depth, objects and arrays, and at most `mostValues` elements and members. Throws `ScanError`.
 */
export function checkBounds(bytes: Buffer, mostValues: number): void {
  parts = 0
  values = -mostValues
  wanted = undefined
  if (skipSpace(bytes, skipValue(bytes, skipSpace(bytes, 0))) !== bytes.length) throw new ScanError('syntax')
}

function readMember(bytes: Buffer, at: number, sought: Sought | undefined): Member {
  if (bytes[at] !== QUOTE) throw new ScanError('syntax')
  escaped = false
  const keyEnd = skipString(bytes, at)
  const colon = skipSpace(bytes, keyEnd)
  if (bytes[colon] !== COLON) throw new ScanError('syntax')
  const start = skipSpace(bytes, colon + 1)
  const key = decodeKey(bytes, at, keyEnd)
  searches = sought?.fetched?.has(key) === true
  noteKey(0, at, keyEnd, bytes)
  topKey = key
  quietBelow = wanted?.isData(key) ? 0 : MAX_DEPTH
  if (bytes[start] === OPEN_OBJECT && wanted?.hasIdsOf(key)) namedAt[1] = start
  const end = skipValue(bytes, start)
  if (searches && bytes[start] === QUOTE) noteText(bytes, 0, start, end)
  searches = false
  return { key, at, start, end }
}

/** Decodes an escaped key (`"mod\u0065l"`) as any JSON parser would. */
function decodeKey(bytes: Buffer, at: number, end: number): string {
  const raw = bytes.toString('utf8', at + 1, end - 1)
  if (!raw.includes('\\')) return raw
  try {
    return JSON.parse(`"${raw}"`)
  } catch {
    throw new ScanError('syntax')
  }
}

const NONE: readonly FoundAddress[] = []
const NONE_NESTED: readonly NestedMember[] = []
const NO_MARKS: readonly string[] = []
/** The most addresses in a body: more pictures are no conversation. */
const MAX_ADDRESSES = 1024

/** The addresses so far, and whether the member that is scanned is searched for them. */
let found: FoundAddress[] | undefined
let searches = false
/** By level, where the last key begins, whether it may be one of an address, and how many elements precede in an array. */
const keyStarts = new Uint32Array(MAX_DEPTH + 1)
const suspects = new Uint8Array(MAX_DEPTH + 1)
const indexes = new Uint32Array(MAX_DEPTH + 1)

function noteKey(level: number, start: number, end: number, bytes: Buffer): void {
  keyStarts[level] = start
  if (searches) suspects[level] = escaped || mayBeAddress(end - start - 2, bytes[end - 2]!) ? 1 : 0
}

/** Notes a text that is an address. `depth`: of the object or the array that it stands in; 0 at the top. */
function noteText(bytes: Buffer, depth: number, start: number, end: number): void {
  let level = depth
  while (level > 0 && open[level] === CLOSE_ARRAY) level--
  if (suspects[level] === 0) return
  const names = []
  for (let each = 0; each <= level; each++) if (each === 0 || open[each] === CLOSE_OBJECT) names.push(nameAt(bytes, each))
  const kind = addressKind(names.map((name) => name.toLowerCase()))
  if (kind === undefined) return
  const address = addressIn(bytes, start, end)
  if (address !== undefined && isContent(address, kind)) return
  const isWhole = end - start <= MAX_ADDRESS
  found ??= []
  if (found.push({ path: pathAt(bytes, depth), address: isWhole ? address : undefined }) > MAX_ADDRESSES)
    throw new ScanError('too_many_addresses')
}

const nameAt = (bytes: Buffer, level: number): string => decodeKey(bytes, keyStarts[level]!, skipString(bytes, keyStarts[level]!))

function pathAt(bytes: Buffer, depth: number): string {
  let path = nameAt(bytes, 0)
  for (let level = 1; level <= depth; level++)
    path += open[level] === CLOSE_ARRAY ? `[${indexes[level]}]` : `.${nameAt(bytes, level)}`
  return path
}

/** A text; of a long one its beginning, unless that has escapes other than that of a slash. Undefined if it is no text of JSON. */
function addressIn(bytes: Buffer, start: number, end: number): string | undefined {
  if (end - start > MAX_ADDRESS) {
    const text = bytes.toString('latin1', start + 1, start + BEGINNING).replaceAll('\\/', '/')
    return text.includes('\\') ? undefined : text
  }
  try {
    return JSON.parse(bytes.toString('utf8', start, end))
  } catch {
    return undefined
  }
}

/** Counts a part, by the text of its type. */
function noteType(bytes: Buffer, start: number, end: number): void {
  const length = end - start - 2
  if (escaped ? length > MAX_TYPE : !mayBeMedium(length, bytes[start + 1]!, bytes[end - 2]!)) return
  const medium = mediumOf(decodeKey(bytes, start, end))
  if (medium !== undefined) media[medium]++
}

function skipValue(bytes: Buffer, at: number): number {
  const byte = bytes[at]
  if (byte === QUOTE) return skipString(bytes, at)
  if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) return skipContainer(bytes, at)
  return skipLiteral(bytes, at)
}

/** The state of a scan, shared by all of them: they are synchronous. */
let parts = 0
/** Elements and members so far, counted from a negative number: none may be left above zero. */
let values = 0
let wanted: WantedKeys | undefined
let nested: NestedMember[] | undefined
let marks: string[] | undefined
/** The media so far, and where the value of the last key `type` begins. */
const media = { pictures: 0, files: 0 }
let typeAt = 0
let names: NestedMember[] | undefined
/** The key of the member of the top level. */
let topKey = ''
/** The level of a key below which nothing is looked for. */
let quietBelow = MAX_DEPTH
/** Of each open level: the closing byte, and the offset of the opening one. */
const open = new Uint8Array(MAX_DEPTH + 1)
const openAt = new Uint32Array(MAX_DEPTH + 1)
/** By level, the offset of the last object whose `id` is wanted. */
const namedAt = new Uint32Array(MAX_DEPTH + 2)

/** Iterative: no depth can exhaust the stack. */
function skipContainer(bytes: Buffer, start: number): number {
  let depth = 0
  let at = start
  let count = values
  for (;;) {
    const byte = bytes[at]
    if (byte === OPEN_OBJECT || byte === OPEN_ARRAY) {
      if (depth === MAX_DEPTH) throw new ScanError('too_deep')
      if (++parts > MAX_PARTS) throw new ScanError('too_many_parts')
      const close = byte === OPEN_OBJECT ? CLOSE_OBJECT : CLOSE_ARRAY
      open[++depth] = close
      openAt[depth] = at
      indexes[depth] = 0
      at = skipSpace(bytes, at + 1)
      if (bytes[at] !== close) {
        if (close === CLOSE_OBJECT) at = skipKey(bytes, at, depth)
        continue
      }
    } else {
      const end = byte === QUOTE ? skipString(bytes, at) : skipLiteral(bytes, at)
      if (at === typeAt && byte === QUOTE) noteType(bytes, at, end)
      if (searches && byte === QUOTE) noteText(bytes, depth, at, end)
      at = skipSpace(bytes, end)
    }
    while (bytes[at] === open[depth]) {
      depth--
      if (depth === 0) {
        values = count
        return at + 1
      }
      at = skipSpace(bytes, at + 1)
    }
    if (bytes[at] !== COMMA) throw new ScanError('syntax')
    if (++count > 0) throw new ScanError('too_many_parts')
    at = skipSpace(bytes, at + 1)
    if (open[depth] === CLOSE_OBJECT) at = skipKey(bytes, at, depth)
    else indexes[depth]!++
  }
}

/** Skips `"key":` to the value. */
function skipKey(bytes: Buffer, at: number, depth: number): number {
  if (bytes[at] !== QUOTE) throw new ScanError('syntax')
  escaped = false
  const end = skipString(bytes, at)
  noteKey(depth, at, end, bytes)
  const colon = skipSpace(bytes, end)
  if (bytes[colon] !== COLON) throw new ScanError('syntax')
  const start = skipSpace(bytes, colon + 1)
  if (wanted !== undefined && depth <= quietBelow) {
    quietBelow = MAX_DEPTH
    const isContainer = bytes[start] === OPEN_OBJECT || bytes[start] === OPEN_ARRAY
    const isSuspect = escaped || wanted.mayHave(bytes[at + 1]!, bytes[end - 2]!, end - at - 2, isContainer)
    if (isSuspect || (end - at === 4 && namedAt[depth] === openAt[depth])) note(bytes, depth, end, start)
    if (wanted.tellsNames && isName(bytes, at, end) && bytes[start] === QUOTE && !isPlainWord(bytes, start)) {
      names ??= []
      noteAt(names, { path: pathTo(bytes, depth, 'name'), object: openAt[depth]!, start })
    }
  }
  if (end - at === 6 ? isType(bytes, at + 1) : escaped && end - at < MAX_WANTED && IS_TYPE.test(decodeKey(bytes, at, end))) {
    typeAt = start
    escaped = false
  }
  return start
}

/** Whether four letters are `type`, also for servers that ignore case. To make a text of each key of this length would cost more. */
const isType = (bytes: Buffer, at: number): boolean =>
  (bytes[at]! | CASE) === 0x74 &&
  (bytes[at + 1]! | CASE) === 0x79 &&
  (bytes[at + 2]! | CASE) === 0x70 &&
  (bytes[at + 3]! | CASE) === 0x65

/** The bit by which small letters of ASCII differ from large ones. */
const CASE = 0x20
const IS_TYPE = /^type$/i

const NAME = Buffer.from('"name"')

const isName = (bytes: Buffer, at: number, end: number): boolean =>
  end - at === NAME.length && bytes[at + 1] === NAME[1] && bytes.compare(NAME, 0, NAME.length, at, end) === 0

/** The most letters of a plain word. */
const WORD = 64
/** Letters, digits, `_` and `-`. */
const IN_WORD = new Uint8Array(256)
for (const letter of Buffer.from('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_-')) IN_WORD[letter] = 1

/** Whether the string at an offset is empty, or a word that every vendor takes as the name of a tool: a letter or `_` first. */
function isPlainWord(bytes: Buffer, quote: number): boolean {
  const first = bytes[quote + 1]!
  if (isDigit(first) || first === 0x2d) return false
  const last = quote + 1 + WORD
  let at = quote + 1
  while (at < last && IN_WORD[bytes[at]!] === 1) at++
  return bytes[at] === QUOTE
}

/** Notes the member whose key was read last, if it is wanted. */
function note(bytes: Buffer, depth: number, keyEnd: number, start: number): void {
  const key = decodeKey(bytes, keyStarts[depth]!, keyEnd)
  if (wanted!.isData(key)) {
    quietBelow = depth
    return
  }
  if (wanted!.isMark(key)) {
    marks ??= []
    if (!marks.includes(key)) marks.push(key)
    return
  }
  const isNamed = bytes[start] === OPEN_OBJECT && wanted!.hasIdsOf(key)
  if (isNamed) namedAt[depth + 1] = start
  else if (!(namedAt[depth] === openAt[depth] && IS_ID.test(key)) && !(wanted!.has(key) && isInPlace(key, depth))) return
  nested ??= []
  noteAt(nested, { path: pathTo(bytes, depth, key), object: openAt[depth]!, start })
}

function noteAt(list: NestedMember[], member: NestedMember): void {
  if (list.push(member) > MAX_PARTS) throw new ScanError('too_many_parts')
}

/** The path of a member of the object at a level. */
function pathTo(bytes: Buffer, depth: number, key: string): (string | number)[] {
  const path: (string | number)[] = [topKey]
  for (let level = 1; level < depth; level++) path.push(open[level] === CLOSE_OBJECT ? nameAt(bytes, level) : indexes[level]!)
  path.push(key)
  return path
}

const IS_ID = /^id$/iu

function isInPlace(key: string, depth: number): boolean {
  const list = wanted!.itemsOf(key)
  return list === undefined || (depth === 2 && open[1] === CLOSE_ARRAY && topKey === list)
}

/** Calls `each` with the key of each member of an object within scanned JSON, and with the offsets of its value. */
export function eachMember(bytes: Buffer, object: number, each: (key: string, start: number, end: number) => void): void {
  parts = 0
  values = Number.NEGATIVE_INFINITY
  wanted = undefined
  let at = skipSpace(bytes, object + 1)
  while (bytes[at] === QUOTE) {
    const keyEnd = skipString(bytes, at)
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    const end = skipValue(bytes, start)
    each(decodeKey(bytes, at, keyEnd), start, end)
    at = skipSpace(bytes, end)
    if (bytes[at] === COMMA) at = skipSpace(bytes, at + 1)
  }
}

/** One past the last byte of a value of scanned JSON that begins at an offset. */
export function endOfValue(bytes: Buffer, start: number): number {
  parts = 0
  values = Number.NEGATIVE_INFINITY
  wanted = undefined
  return skipValue(bytes, start)
}

/** Whether a string that was skipped since this was set to false may have escapes. */
let escaped = false

/** Alternates a loop, faster if the quote is near, and the native search, faster in long text and base64. */
function skipString(bytes: Buffer, quote: number): number {
  let at = quote + 1
  for (;;) {
    const near = Math.min(at + LOOP_BYTES, bytes.length)
    while (at < near) {
      const byte = bytes[at]
      if (byte === QUOTE) return at + 1
      if (byte === BACKSLASH) {
        escaped = true
        at += 2
      } else at++
    }
    escaped = true
    const end = bytes.indexOf(QUOTE, at)
    if (end < 0) throw new ScanError('syntax')
    let slash = end
    while (slash > at && bytes[slash - 1] === BACKSLASH) slash--
    if ((end - slash) % 2 === 0) return end + 1
    at = end + 1
  }
}

const [TRUE, FALSE, NULL] = ['true', 'false', 'null'].map((word) => Buffer.from(word))

function skipLiteral(bytes: Buffer, start: number): number {
  const first = bytes[start]
  const word = first === 0x74 ? TRUE! : first === 0x66 ? FALSE! : first === 0x6e ? NULL! : undefined
  let at = start
  if (word !== undefined) {
    for (const letter of word) if (bytes[at++] !== letter) throw new ScanError('syntax')
    return at
  }
  while (isNumberByte(bytes[at])) at++
  if (at === start || !isDigit(bytes[at - 1])) throw new ScanError('syntax')
  return at
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= 0x30 && byte <= 0x39

/** Digits, `-`, `+`, `.`, `e`, `E`. */
const isNumberByte = (byte: number | undefined): boolean =>
  isDigit(byte) || byte === 0x2d || byte === 0x2b || byte === 0x2e || byte === 0x65 || byte === 0x45

function skipSpace(bytes: Buffer, from: number): number {
  let at = from
  for (;;) {
    const byte = bytes[at]
    if (byte !== 0x20 && byte !== 0x0a && byte !== 0x0d && byte !== 0x09) return at
    at++
  }
}

/**
 * Replaces, adds, or (by `undefined`) removes top-level members of a JSON object. All other bytes are copied unchanged, so key
 * order, unknown fields and large integers survive. `members`: of `scanObject`.
 */
export function spliceObject(bytes: Buffer, members: readonly Member[], changes: Readonly<Record<string, unknown>>): Buffer {
  const added = Object.keys(changes).filter((key) => changes[key] !== undefined && !members.some((member) => member.key === key))
  const edits: Edit[] = []
  let kept = 0
  members.forEach((member, index) => {
    if (!Object.hasOwn(changes, member.key)) kept++
    else if (changes[member.key] === undefined) edits.push(removal(members, index, kept > 0))
    else {
      edits.push({ start: member.start, end: member.end, text: JSON.stringify(changes[member.key]) })
      kept++
    }
  })
  if (added.length > 0) {
    const text = added.map((key) => `${JSON.stringify(key)}:${JSON.stringify(changes[key])}`).join(',')
    const brace = bytes.indexOf('{') + 1
    edits.unshift({ start: brace, end: brace, text: kept > 0 ? `${text},` : text })
  }
  return apply(bytes, edits)
}

/** A piece of a body to replace: offsets of its first byte and one past its last, and the JSON in its place. */
export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/** Replaces values of scanned JSON, each within one member of the top level. The result needs no scan of its own. */
export function replaceValues(
  bytes: Buffer,
  scanned: ScannedObject,
  edits: readonly Edit[],
): { readonly bytes: Buffer; readonly scanned: ScannedObject } {
  const ordered = [...edits].sort((a, b) => a.start - b.start)
  let at = 0
  let shift = 0
  const shifted = (offset: number): number => {
    for (; at < ordered.length && ordered[at]!.end <= offset; at++)
      shift += Buffer.byteLength(ordered[at]!.text) - (ordered[at]!.end - ordered[at]!.start)
    return offset + shift
  }
  const members = scanned.members.map(({ key, at: begin, start, end }) => ({
    key,
    at: shifted(begin),
    start: shifted(start),
    end: shifted(end),
  }))
  return { bytes: apply(bytes, ordered), scanned: { ...scanned, members, nested: [], names: [] } }
}

/** Removes one comma too: the one before if an earlier member stays, else the one after. */
function removal(members: readonly Member[], index: number, follows: boolean): Edit {
  const member = members[index]!
  if (follows) return { start: members[index - 1]!.end, end: member.end, text: '' }
  return { start: member.at, end: members[index + 1]?.at ?? member.end, text: '' }
}

function apply(bytes: Buffer, edits: Edit[]): Buffer {
  edits.sort((a, b) => a.start - b.start)
  const pieces: Buffer[] = []
  let from = 0
  for (const edit of edits) {
    pieces.push(bytes.subarray(from, edit.start), Buffer.from(edit.text))
    from = edit.end
  }
  pieces.push(bytes.subarray(from))
  return Buffer.concat(pieces)
}

/** Sets, or by `undefined` removes, the value at a JSON pointer (RFC 6901); `-` appends to an array. Throws if it has no parent. */
export function setPointer(root: object, pointer: string, value: unknown): void {
  const steps = pointer.split('/').map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'))
  const last = steps.pop()
  if (steps.shift() !== '' || last === undefined) throw new Error(`not a JSON pointer: ${pointer}`)
  let parent: unknown = root
  for (const step of steps) parent = own(parent, step)
  if (typeof parent !== 'object' || parent === null) throw new Error(`no such place in the body: ${pointer}`)
  if (Array.isArray(parent)) setElement(parent, last === '-' ? String(parent.length) : last, value)
  else if (value === undefined) Reflect.deleteProperty(parent, last)
  // Defined, not assigned: a pointer to `__proto__` must set plain data.
  else Object.defineProperty(parent, last, { value, writable: true, enumerable: true, configurable: true })
}

function setElement(array: unknown[], step: string, value: unknown): void {
  const index = Number(step)
  if (!/^(?:0|[1-9]\d*)$/.test(step) || index > array.length) throw new Error(`no such element: ${step}`)
  if (value === undefined) array.splice(index, 1)
  else array[index] = value
}

const own = (parent: unknown, key: string): unknown =>
  typeof parent === 'object' && parent !== null && Object.hasOwn(parent, key)
    ? (parent as Record<string, unknown>)[key]
    : undefined
