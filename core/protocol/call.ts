import { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { ContractViolation } from '../plugins/faults.ts'
import type { Call, ChatRequest, EndpointName, Media, ModelId } from '../sdk/api.ts'
import type { FoundAddress } from './addresses.ts'
import { type GuardedMember, guardedAmong, guardedIn, isMarkAt, soughtAt } from './guarded-members.ts'
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
import { keptTokensIn } from './kept-references.ts'
import { checkKeys } from './keys.ts'
import type { RequestCheck } from './validation.ts'

/** Counts the memory that a call takes. */
export interface Memory {
  /** Throws if `bytes` more would exceed the limit. */
  take(bytes: number): void
}

/** Takes any number of bytes. */
export const UNCOUNTED: Memory = { take: () => undefined }

/**
 * The error for a name that is not a model which the caller may call: clients cannot distinguish unknown models from forbidden ones.
 * `nearest`: a model that the caller may call, if one has a name like it.
 */
export function modelNotFound(name: string, nearest?: string, cause?: unknown): GatewayError {
  const meant = nearest === undefined ? '' : ` Did you mean \`${nearest}\`?`
  const form = name.includes('/') ? '' : ' Names look like `<namespace>/<model>`; GET /v1/models lists those of your key.'
  const detail = meant + form
  return new GatewayError('model_not_found', { param: 'model', values: { model: name.slice(0, 200), detail }, cause })
}

/** Inputs of a call other than its body. */
export interface CallContext {
  readonly id: string
  readonly endpoint: EndpointName
  readonly check: RequestCheck
  /** Resolves a name or alias to a model id. Throws a GatewayError (404) for one that cannot name a model. */
  readonly resolve: (name: string) => ModelId
  /** Upstream headers added by chain plugins. */
  readonly upstreamHeaders: Readonly<Record<string, string>>
  /** Headers of the client's request that belong to its protocol, for upstreams that speak it. */
  readonly clientHeaders?: Readonly<Record<string, string>>
  /** Counts the parsed body. */
  readonly memory: Memory
  /** True once core has chosen the call's route: then edits are refused. */
  decided: boolean
}

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

let release: (call: ClientCall) => void
let addresses: (call: ClientCall) => readonly FoundAddress[]
let includes: (call: ClientCall, texts: readonly string[]) => boolean
let rewrite: (call: ClientCall, edits: readonly Edit[]) => ClientCall
let replace: (call: ClientCall, bytes: Buffer, scanned?: ScannedObject) => ClientCall
let isUnplain: (call: ClientCall) => boolean
let hasForms: (call: ClientCall) => boolean
let unplain: (call: ClientCall) => readonly UnplainName[]
let guarded: (call: Call) => readonly GuardedMember[] | undefined

/** Frees the body of a settled call, which its connection would hold while it stays open. The body can no longer be read. */
export const releaseBody = (call: ClientCall): void => release(call)

/**
 * How JSON begins to write letters as escapes, U+0040 to U+007F. Encoders do not, so a body that has them may hide a text: `fallback\u0073`
 * is the key `fallbacks`.
 */
const ESCAPED_LETTERS = ['\\u004', '\\u005', '\\u006', '\\u007']

/** Whether a call's body may contain one of these texts of ASCII letters, as it is or with escapes. */
export const bodyMayInclude = (call: ClientCall, texts: readonly string[]): boolean => includes(call, texts)

/** The addresses in a call's body that an upstream may fetch. */
export const addressesIn = (call: ClientCall): readonly FoundAddress[] => addresses(call)
/** A member `name` below the top level of a body. */
export interface UnplainName {
  /** Its place: the keys that lead to it, and `#` for each index. */
  readonly place: string
  readonly name: string
  /** Offsets of the text in the body. */
  readonly start: number
  readonly end: number
}

/** Whether a call is a chat completion request with a member `name` that some vendor may not take as the name of a tool. */
export const hasUnplainNames = (call: Call): boolean => call instanceof ClientCall && isUnplain(call)

/** The members `name` in a chat completion request that some vendor may not take as the name of a tool. */
export const unplainNamesIn = (call: ClientCall): readonly UnplainName[] => unplain(call)

/** Where a chat completion request has custom tools, or functions in the way before tools: marks below the top level, and members. */
const TOOL_FORMS = { marks: ['custom', 'function_call'], members: ['functions', 'function_call'] }

/** Whether a call is a chat completion request with tools, or calls of them, in another form than that of function tools. */
export const hasToolForms = (call: Call): call is ClientCall =>
  call instanceof ClientCall && call.endpoint === 'chat.completions' && hasForms(call)

/** The guarded members of a client's call. Throws `GatewayError` (400) for a name that some servers take for one of them. */
export const guardedOf = (call: Call): readonly GuardedMember[] => guarded(call) ?? guardedAmong(call)

/** The call with other values in its body, whose guarded members have been checked. */
export const rewritten = (call: ClientCall, edits: readonly Edit[]): ClientCall =>
  edits.length === 0 ? call : rewrite(call, edits)

/** The call with other members of the top level in its body: as `Call.splice`. */
export const spliced = (call: ClientCall, members: Readonly<Record<string, unknown>>): ClientCall =>
  Object.keys(members).length === 0 ? call : replace(call, call.splice(members))

/** The call with another body. `scanned`: of these bytes, if already known. */
export const withBody = (call: ClientCall, bytes: Buffer, scanned?: ScannedObject): ClientCall => replace(call, bytes, scanned)

const RELEASED = Buffer.alloc(0)

/** The caps of a chat completion, and the value by which some clients mean none. */
const [CAPS, UNCAPPED] = [['max_tokens', 'max_completion_tokens'], -1]

/** What upstreams may reply with, if it is not JSON. */
const ACCEPTED: { readonly [Endpoint in EndpointName]?: string } = { 'audio.speech': '*/*' }

/** The client's request: its bytes, the offsets of its top-level members, and the fields parsed so far. */
export class ClientCall implements Call {
  static {
    release = (call) => {
      const { model, stream, stream_options, n } = call.#head
      call.#head = { model, stream, stream_options, n }
      call.#bytes = RELEASED
      call.#guarded = undefined
      call.#body = undefined
    }
    addresses = (call) => call.#scanned.addresses
    includes = (call, texts) => {
      const has = (text: string): boolean => call.#unreleased.includes(text, 0, 'latin1')
      return texts.some(has) || (has('\\u00') && ESCAPED_LETTERS.some(has))
    }
    rewrite = (call, edits) => {
      const { bytes, scanned } = replaceValues(call.#unreleased, call.#scanned, edits)
      return call.#with(bytes, scanned)
    }
    replace = (call, bytes, scanned) => call.#with(bytes, scanned)
    hasForms = (call) => {
      const { members, marks } = call.#scanned
      return TOOL_FORMS.marks.some((mark) => marks.includes(mark)) || members.some(({ key }) => TOOL_FORMS.members.includes(key))
    }
    isUnplain = (call) => call.#scanned.names.length > 0
    unplain = (call) =>
      call.#scanned.names.map(({ path, start }) => {
        const end = endOfValue(call.#unreleased, start)
        const name = String(parse(call.#unreleased.subarray(start, end)))
        return { place: path.map((step) => (typeof step === 'number' ? '#' : step)).join('.'), name, start, end }
      })
    guarded = (call) => {
      if (!(#scanned in call)) return undefined
      call.#guarded ??= guardedIn(call.#unreleased, call.#scanned, call.endpoint)
      return call.#guarded
    }
  }

  readonly id: string
  readonly endpoint: EndpointName
  readonly #context: CallContext
  #size: number
  #bytes: Buffer
  #scanned: ScannedObject
  /** The fields that are always parsed: all of a small body. */
  #head: Readonly<Record<string, unknown>>
  /** The parsed large body. Held weakly: a call may wait for minutes, and the body can be parsed again. */
  #body: WeakRef<ChatRequest> | undefined
  #isCounted = false
  #guarded: readonly GuardedMember[] | undefined
  /** The client's own call, if this one has other bytes: its ids say how much is kept. */
  #source: ClientCall | undefined
  #model: ModelId | undefined

  /** `scanned`: of these bytes, if already known. Throws a GatewayError (400) if the body is invalid. */
  constructor(bytes: Buffer, context: CallContext, scanned = scan(bytes, context.endpoint)) {
    this.id = context.id
    this.endpoint = context.endpoint
    this.#context = context
    this.#size = bytes.length
    this.#bytes = bytes
    this.#scanned = scanned
    this.#head = this.#readHead()
  }

  get model(): ModelId {
    this.#model ??= this.#context.resolve(this.#head.model as string)
    return this.#model
  }

  get stream(): boolean {
    return this.#head.stream === true
  }

  /** Its body is JSON. */
  get form(): undefined {
    return undefined
  }
  get files(): undefined {
    return undefined
  }
  get includeUsage(): boolean {
    return (this.#head.stream_options as ChatRequest['stream_options'])?.include_usage === true
  }

  /** Number of choices requested. */
  get choices(): number {
    return (this.#head.n as number | null | undefined) ?? 1
  }

  get size(): number {
    return this.#size
  }

  get large(): boolean {
    return this.#size > LARGE.bytes || this.#scanned.parts > LARGE.parts
  }

  get media(): Media {
    return this.#scanned.media
  }

  get keptTokens(): number | undefined {
    return keptTokensIn(guardedOf(this.#source ?? this))
  }

  get keys(): readonly string[] {
    return this.#scanned.members.map(({ key }) => key)
  }

  get body(): Readonly<ChatRequest> {
    const known = this.#parsed
    if (known !== undefined) return known
    this.#countParsed()
    const body = this.#parseWhole()
    this.#context.check(body)
    this.#body = new WeakRef(body)
    return body
  }

  member(key: string): unknown {
    const body = this.#parsed
    if (body !== undefined) return Object.hasOwn(body, key) ? body[key] : undefined
    const member = this.#scanned.members.find((candidate) => candidate.key === key)
    return member && parse(this.#unreleased.subarray(member.start, member.end))
  }

  mayHave(names: readonly string[]): boolean {
    const { endpoint } = this
    const unknown = names.filter((name) => !isMarkAt(endpoint, name))
    if (names.some((name) => this.#scanned.marks.includes(name))) return true
    return (
      unknown.length > 0 &&
      bodyMayInclude(
        this,
        unknown.map((name) => `"${name}"`),
      )
    )
  }

  get headers(): Readonly<Record<string, string>> {
    return {
      ...this.#context.clientHeaders,
      ...this.#context.upstreamHeaders,
      'content-type': 'application/json',
      accept: this.stream ? 'text/event-stream' : (ACCEPTED[this.endpoint] ?? 'application/json'),
      'accept-encoding': 'identity',
      'user-agent': 'unified-model-gateway',
      'x-request-id': this.id,
    }
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return spliceObject(this.#unreleased, this.#scanned.members, members)
  }

  edit(pointer: string, value: unknown): void {
    if (this.#context.decided) throw new ContractViolation('EDIT_AFTER_NEXT')
    const body = structuredClone(this.body) as ChatRequest
    setPointer(body, pointer, value)
    this.#context.check(body)
    this.#replace(Buffer.from(JSON.stringify(body)))
    this.#head = this.#isSmall ? body : this.#readSmallMembers()
    this.#body = new WeakRef(body)
    this.#model = undefined
  }

  /** `scanned`: of these bytes, if already known. */
  #with(bytes: Buffer, scanned?: ScannedObject): ClientCall {
    const call = new ClientCall(bytes, this.#context, scanned)
    call.#source = this.#source ?? this
    return call
  }

  get #isSmall(): boolean {
    return this.#size <= WHOLE_BELOW
  }

  /** The bytes; throws after their release: the call is over, so that no client gets the error. */
  get #unreleased(): Buffer {
    if (this.#bytes === RELEASED) throw new GatewayError('service_unavailable')
    return this.#bytes
  }

  /** The body may be parsed again, but it is held weakly. */
  #countParsed(): void {
    if (this.#isCounted) return
    this.#context.memory.take(this.#unreleased.length + this.#scanned.parts * PART_BYTES)
    this.#isCounted = true
  }

  get #parsed(): ChatRequest | undefined {
    return this.#isSmall && this.#bytes !== RELEASED ? (this.#head as ChatRequest) : this.#body?.deref()
  }

  #replace(bytes: Buffer): void {
    this.#scanned = scan(bytes, this.endpoint)
    this.#guarded = undefined
    this.#size = bytes.length
    this.#bytes = bytes
  }

  #readHead(): Readonly<Record<string, unknown>> {
    const head = this.#isSmall ? this.#parseWhole() : this.#readSmallMembers()
    if (this.endpoint === 'chat.completions' && CAPS.some((name) => head[name] === UNCAPPED)) return this.#withoutCaps(head)
    this.#context.check(head)
    if (head.stream_options != null && head.stream !== true) {
      const detail = "it is only allowed when 'stream' is true"
      throw new GatewayError('invalid_value', { param: 'stream_options', values: { detail } })
    }
    return head
  }

  /** Most upstreams refuse this form of "no limit"; an absent cap says the same to all of them. */
  #withoutCaps(head: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
    const caps = CAPS.filter((name) => head[name] === UNCAPPED)
    this.#replace(this.splice(Object.fromEntries(caps.map((name) => [name, undefined]))))
    return this.#readHead()
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

closeFacade(ClientCall)

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
export function checked(scanned: ScannedObject): ScannedObject {
  checkKeys(scanned.members.map(({ key }) => key))
  return scanned
}

/** The GatewayError (400) of a body that cannot be scanned; another error as it is. */
export function refusal(error: unknown): unknown {
  if (!(error instanceof ScanError)) return error
  const detail = error.code === 'syntax' || error.code === 'not_an_object' ? undefined : SCAN_ERRORS[error.code]
  return detail === undefined ? new GatewayError('invalid_json') : new GatewayError('invalid_body', { values: { detail } })
}
