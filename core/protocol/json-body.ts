import { GatewayError } from '../errors.ts'
import type { ChatRequest, EndpointName, Media, ReplyTransform } from '../sdk/api.ts'
import type { FoundAddress } from './addresses.ts'
import type { CallContext, ClientBody } from './call.ts'
import { type GuardedMember, guardedIn, isMarkAt, soughtAt } from './guarded-members.ts'
import {
  type Edit,
  endOfValue,
  replaceValues,
  ScanError,
  type ScanErrorCode,
  type ScannedObject,
  scanObject,
  setPointer,
  spliceObject,
} from './json.ts'
import { checkKeys } from './keys.ts'

/** The most that a body may have to be scanned, parsed and translated on the event loop: that takes some ten milliseconds at worst. */
export const LARGE = { bytes: 1 << 20, parts: 8192 } as const

/** Bytes of an empty object or array in V8's heap. */
const PART_BYTES = 64

/**
 * A body up to this size (bytes) is parsed and checked whole: it takes a few microseconds and gives every caller the same exact
 * errors. Of a larger body only the top level is checked now, the rest when a caller needs it parsed (docs/decisions).
 */
const WHOLE_BELOW = 16 * 1024

/** Top-level members up to this size (bytes) are parsed to check a large body: scalars and small objects. */
const SMALL_MEMBER = 1024

/**
 * How JSON begins to write letters as escapes, U+0040 to U+007F. Encoders do not, so a body that has them may hide a text: `fallback\u0073`
 * is the key `fallbacks`.
 */
const ESCAPED_LETTERS = ['\\u004', '\\u005', '\\u006', '\\u007']

/** Where a chat completion request has custom tools, or functions in the way before tools: marks below the top level, and members. */
const TOOL_FORMS = { marks: ['custom', 'function_call'], members: ['functions', 'function_call'] }

const RELEASED = Buffer.alloc(0)

/** The caps of a chat completion. */
const CAPS = ['max_tokens', 'max_completion_tokens']
/** The value of a cap by which some clients mean none. */
const UNCAPPED = -1

/** What a body is read for. */
export type BodySource = Pick<CallContext, 'endpoint' | 'check' | 'memory' | 'clientHeaders' | 'kept'>

/** A member `name` below the top level of a body. */
export interface UnplainName {
  /** Its place: the keys that lead to it, and `#` for each index. */
  readonly place: string
  readonly name: string
  /** Offsets of the text in the body. */
  readonly start: number
  readonly end: number
}

/** A chat completion request whose tools are all in forms that its upstream takes. */
export interface FormedBody {
  readonly body: JsonBody
  /** What is lost. */
  readonly dropped: readonly string[]
  /** Gives the client its own forms, in one reply. */
  readonly reply: () => ReplyTransform
}

/** A body of JSON: its bytes, the offsets of its top-level members, and the fields parsed so far. */
export class JsonBody implements ClientBody {
  readonly client: JsonBody
  readonly size: number
  /** The same request with its tools in other forms, by the forms that an upstream takes. */
  formed: Map<string, FormedBody> | undefined
  readonly source: BodySource
  readonly #scanned: ScannedObject
  #bytes: Buffer
  /** The fields that are always parsed: all of a small body. */
  #head: Readonly<Record<string, unknown>>
  /** The parsed large body. Held weakly: a call may wait for minutes, and the body can be parsed again. */
  #whole: WeakRef<ChatRequest> | undefined
  #isCounted = false
  #guarded: readonly GuardedMember[] | undefined

  /** `known`: the same, parsed. `client`: the body that it was made of. */
  private constructor(bytes: Buffer, source: BodySource, scanned: ScannedObject, known?: ChatRequest, client?: JsonBody) {
    this.client = client ?? this
    this.size = bytes.length
    this.formed = undefined
    this.source = source
    this.#scanned = scanned
    this.#bytes = bytes
    this.#head = this.#isSmall ? (known ?? this.#parseWhole()) : this.#readSmallMembers()
    if (known !== undefined) this.#whole = new WeakRef(known)
  }

  /**
   * Reads and checks a body. `scanned`: of these bytes, if already known. `client`: the body that it was made of, if the gateway has made it.
   * Throws a GatewayError (400) if it is invalid.
   */
  static read(bytes: Buffer, source: BodySource, scanned = scan(bytes, source.endpoint), client?: JsonBody): JsonBody {
    const body = new JsonBody(bytes, source, scanned, undefined, client)
    const head = body.#head
    // Most upstreams refuse this form of "no limit"; an absent cap says the same to all of them.
    if (source.endpoint === 'chat.completions' && (head.max_tokens === UNCAPPED || head.max_completion_tokens === UNCAPPED)) {
      const caps = CAPS.filter((name) => head[name] === UNCAPPED)
      return JsonBody.read(body.splice(Object.fromEntries(caps.map((name) => [name, undefined]))), source, undefined, client)
    }
    source.check(head)
    if (head.stream_options != null && head.stream !== true) {
      const detail = "it is only allowed when 'stream' is true"
      throw new GatewayError('invalid_value', { param: 'stream_options', values: { detail } })
    }
    return body
  }

  get endpoint(): EndpointName {
    return this.source.endpoint
  }

  get type(): string {
    return 'application/json'
  }

  get clientHeaders(): BodySource['clientHeaders'] {
    return this.source.clientHeaders
  }

  get kept(): BodySource['kept'] {
    return this.source.kept
  }

  get model(): string {
    return this.#head.model as string
  }

  get stream(): boolean {
    return this.#head.stream === true
  }

  get includeUsage(): boolean {
    return (this.#head.stream_options as ChatRequest['stream_options'])?.include_usage === true
  }

  get choices(): number {
    return (this.#head.n as number | null | undefined) ?? 1
  }

  get large(): boolean {
    return this.size > LARGE.bytes || this.#scanned.parts > LARGE.parts
  }

  get media(): Media {
    return this.#scanned.media
  }

  get addresses(): readonly FoundAddress[] {
    return this.#scanned.addresses
  }

  get guarded(): readonly GuardedMember[] {
    this.#guarded ??= guardedIn(this.#unreleased, this.#scanned, this.endpoint)
    return this.#guarded
  }

  get keys(): readonly string[] {
    return this.#scanned.members.map(({ key }) => key)
  }

  get value(): Readonly<ChatRequest> {
    const known = this.#parsed
    if (known !== undefined) return known
    this.#countParsed()
    const body = this.#parseWhole()
    this.source.check(body)
    this.#whole = new WeakRef(body)
    return body
  }

  member(key: string): unknown {
    const body = this.#parsed
    if (body !== undefined) return Object.hasOwn(body, key) ? body[key] : undefined
    const member = this.#scanned.members.find((candidate) => candidate.key === key)
    return member && parse(this.#unreleased.subarray(member.start, member.end))
  }

  /** The JSON text of a member of the top level; undefined if it has none of that name. */
  text(key: string): string | undefined {
    const member = this.#scanned.members.find((candidate) => candidate.key === key)
    return member && this.#unreleased.toString('utf8', member.start, member.end)
  }

  mayHave(names: readonly string[]): boolean {
    const { marks } = this.#scanned
    if (names.some((name) => marks.includes(name))) return true
    const unknown = names.filter((name) => !isMarkAt(this.endpoint, name))
    return unknown.length > 0 && this.mayInclude(unknown.map((name) => `"${name}"`))
  }

  /** Whether it may contain one of these texts of ASCII letters, as it is or with escapes. */
  mayInclude(texts: readonly string[]): boolean {
    const has = (text: string): boolean => this.#unreleased.includes(text, 0, 'latin1')
    return texts.some(has) || (has('\\u00') && ESCAPED_LETTERS.some(has))
  }

  /** Whether it is a chat completion request with tools, or calls of them, in another form than that of function tools. */
  get hasToolForms(): boolean {
    if (this.endpoint !== 'chat.completions') return false
    const { members, marks } = this.#scanned
    return TOOL_FORMS.marks.some((mark) => marks.includes(mark)) || members.some(({ key }) => TOOL_FORMS.members.includes(key))
  }

  /** Whether it is a chat completion request with a member `name` that some vendor may not take as the name of a tool. */
  get hasUnplainNames(): boolean {
    return this.#scanned.names.length > 0
  }

  /** The members `name` that some vendor may not take as the name of a tool. */
  get unplainNames(): readonly UnplainName[] {
    return this.#scanned.names.map(({ path, start }) => {
      const end = endOfValue(this.#unreleased, start)
      const name = String(parse(this.#unreleased.subarray(start, end)))
      return { place: path.map((step) => (typeof step === 'number' ? '#' : step)).join('.'), name, start, end }
    })
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return spliceObject(this.#unreleased, this.#scanned.members, members)
  }

  edited(pointer: string, value: unknown): JsonBody {
    const { endpoint, check } = this.source
    const changed = structuredClone(this.value) as ChatRequest
    setPointer(changed, pointer, value)
    check(changed)
    const bytes = Buffer.from(JSON.stringify(changed))
    const body = new JsonBody(bytes, this.source, scan(bytes, endpoint), changed)
    body.#isCounted = this.#isCounted
    return body
  }

  /** The body with other values, each within one member of the top level. */
  rewritten(edits: readonly Edit[]): JsonBody {
    if (edits.length === 0) return this
    const { bytes, scanned } = replaceValues(this.#unreleased, this.#scanned, edits)
    return this.replacedBy(bytes, scanned)
  }

  /** The body with other members of the top level: as `splice`. */
  spliced(members: Readonly<Record<string, unknown>>): JsonBody {
    return Object.keys(members).length === 0 ? this : this.replacedBy(this.splice(members))
  }

  /** Another body for the same client's. `scanned`: of these bytes, if already known. */
  replacedBy(bytes: Buffer, scanned?: ScannedObject): JsonBody {
    return JsonBody.read(bytes, this.source, scanned, this.client)
  }

  release(): void {
    const { model, stream, stream_options, n } = this.#head
    this.#head = { model, stream, stream_options, n }
    this.#bytes = RELEASED
    this.#guarded = undefined
    this.#whole = undefined
    this.formed = undefined
  }

  get #isSmall(): boolean {
    return this.size <= WHOLE_BELOW
  }

  /** The bytes; throws after their release: the call is over, so that no client gets the error. */
  get #unreleased(): Buffer {
    if (this.#bytes === RELEASED) throw new GatewayError('service_unavailable')
    return this.#bytes
  }

  /** The body may be parsed again, but it is held weakly. */
  #countParsed(): void {
    if (this.#isCounted) return
    this.source.memory.take(this.#unreleased.length + this.#scanned.parts * PART_BYTES)
    this.#isCounted = true
  }

  get #parsed(): ChatRequest | undefined {
    return this.#isSmall && this.#bytes !== RELEASED ? (this.#head as ChatRequest) : this.#whole?.deref()
  }

  /** V8 can misread an escaped key (nodejs/node#63785), but the checked body must be the sent one. */
  #parseWhole(): ChatRequest {
    const bytes = this.#unreleased
    const body = parse(bytes) as ChatRequest
    const { members } = this.#scanned
    if (members.every(({ key }) => Object.hasOwn(body, key))) return body
    const entries = members.map(({ key, start, end }) => [key, parse(bytes.subarray(start, end))])
    return Object.fromEntries(entries)
  }

  /** The members of a large body that can be checked without parsing its large members. */
  #readSmallMembers(): Record<string, unknown> {
    const head: Record<string, unknown> = Object.create(null)
    for (const { key, start, end } of this.#scanned.members) {
      if (end - start <= SMALL_MEMBER) head[key] = parse(this.#bytes.subarray(start, end))
      else if (Object.hasOwn(UNREAD, key) && this.#bytes[start] === 0x5b) head[key] = UNREAD[key]
      else if (this.#bytes[start] === 0x22) head[key] = this.#bytes.toString('utf8', start + 1, start + SMALL_MEMBER)
      else if (Object.hasOwn(UNREAD, key) || key === 'model') head[key] = {}
    }
    return head
  }
}

/** Placeholders for unparsed arrays: too large to be empty. */
const UNREAD: Readonly<Record<string, readonly unknown[]>> = {
  messages: [{ role: 'user', content: '' }],
  input: [''],
  prompt: [''],
  documents: [''],
}

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new GatewayError('invalid_json')
  }
}

const SCAN_ERRORS: Readonly<Record<Exclude<ScanErrorCode, 'syntax' | 'not_an_object'>, string>> = {
  too_deep: 'The request body is nested more than 64 levels deep.',
  too_many_members: 'The request body has more than 256 members at its top level.',
  too_many_addresses: 'The request body has more than 1,024 addresses of files.',
  too_many_parts: 'The request body has more than 50,000 objects and arrays in it.',
}

/** Scans a body. Throws a GatewayError (400) if it is not an acceptable JSON object. */
function scan(bytes: Buffer, endpoint: EndpointName): ScannedObject {
  try {
    return checked(scanObject(bytes, soughtAt(endpoint)))
  } catch (error) {
    throw refusal(error)
  }
}

/** Checks the keys of a scanned body. Throws a GatewayError (400). */
function checked(scanned: ScannedObject): ScannedObject {
  checkKeys(scanned.members.map(({ key }) => key))
  return scanned
}

/** The GatewayError (400) of a body that cannot be scanned; another error as it is. */
function refusal(error: unknown): unknown {
  if (!(error instanceof ScanError)) return error
  const detail = error.code === 'syntax' || error.code === 'not_an_object' ? undefined : SCAN_ERRORS[error.code]
  return detail === undefined ? new GatewayError('invalid_json') : new GatewayError('invalid_body', { values: { detail } })
}

/** The bytes of a large body, and their scan. */
export interface ScannedBody {
  readonly bytes: Buffer
  readonly scanned: ScannedObject
}

/** Scans large bodies off the event loop. */
export interface BodyScanner {
  /** Takes the bytes over, and returns them without a copy. `endpoint`: of a request; undefined for a reply. Throws `ScanError`. */
  scan(bytes: Buffer, endpoint?: EndpointName): Promise<ScannedBody>
}

/**
 * Reads a large body, which `scanner` takes over: scanning many megabytes would block the event loop. `client`: as of `JsonBody.read`. Throws a
 * GatewayError (400) if the body is invalid.
 */
export async function readLarge(bytes: Buffer, source: BodySource, scanner: BodyScanner, client?: JsonBody): Promise<JsonBody> {
  try {
    const body = await scanner.scan(bytes, source.endpoint)
    return JsonBody.read(body.bytes, source, checked(body.scanned), client)
  } catch (error) {
    throw refusal(error)
  }
}
