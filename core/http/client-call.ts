import { GatewayError } from '../errors.ts'
import type { Member } from '../json/scan.ts'
import { spliceObject } from '../json/splice.ts'
import type { Call, ChatRequest, EndpointName, ModelId } from '../plugin/api.ts'
import { Misuse } from '../plugin/misuse.ts'
import type { RequestCheck } from './check.ts'
import { membersOf } from './members.ts'
import { setPointer } from './pointer.ts'

/** What a call is made of, beside its body. */
export interface CallContext {
  readonly id: string
  readonly endpoint: EndpointName
  readonly check: RequestCheck
  /** The model id a name stands for, aliases resolved; undefined where it cannot name a model. */
  readonly resolve: (name: string) => ModelId | undefined
  /** Headers for the upstream that chain plugins added. */
  readonly upstreamHeaders: Readonly<Record<string, string>>
}

/**
 * Up to this size a body is parsed and checked whole at once: it costs a few microseconds and gives every caller the same exact
 * errors. Past it only the top level is looked at, and the rest is checked when someone needs it parsed (docs/decisions).
 */
const WHOLE_BELOW = 16 * 1024

/** Top-level members up to this size are parsed for the check of a large body: scalars and small objects. */
const SMALL_MEMBER = 1024

/** The client's request, read: the bytes as they came, where their members stand, and what is known of them. */
export class ClientCall implements Call {
  readonly id: string
  readonly endpoint: EndpointName
  readonly #context: CallContext
  #bytes: Buffer
  #members: readonly Member[]
  /** What of the body is parsed in any case: all of a small one. */
  #head: Readonly<Record<string, unknown>>
  /** A large body, parsed. Held weakly: a call may wait for minutes, and the body can be parsed again. */
  #body: WeakRef<ChatRequest> | undefined
  #model: ModelId | undefined
  #sealed = false

  /** `members`: of the body, where they are known already. Throws a GatewayError (400) for a body that is none. */
  constructor(bytes: Buffer, context: CallContext, members = membersOf(bytes)) {
    this.id = context.id
    this.endpoint = context.endpoint
    this.#context = context
    this.#bytes = bytes
    this.#members = members
    this.#head = this.#readHead()
  }

  get model(): ModelId {
    this.#model ??= this.#resolveModel()
    return this.#model
  }

  get stream(): boolean {
    return this.#head.stream === true
  }

  get includeUsage(): boolean {
    return (this.#head.stream_options as ChatRequest['stream_options'])?.include_usage === true
  }

  /** How many choices were asked for. */
  get choices(): number {
    return (this.#head.n as number | null | undefined) ?? 1
  }

  get size(): number {
    return this.#bytes.length
  }

  get body(): Readonly<ChatRequest> {
    const known = this.#parsed
    if (known !== undefined) return known
    const body = this.#parseWhole()
    this.#context.check(body)
    this.#body = new WeakRef(body)
    return body
  }

  member(key: string): unknown {
    const body = this.#parsed
    if (body !== undefined) return Object.hasOwn(body, key) ? body[key] : undefined
    const member = this.#members.find((candidate) => candidate.key === key)
    return member && parse(this.#bytes.subarray(member.start, member.end))
  }

  get headers(): Readonly<Record<string, string>> {
    return {
      ...this.#context.upstreamHeaders,
      'content-type': 'application/json',
      accept: this.stream ? 'text/event-stream' : 'application/json',
      'accept-encoding': 'identity',
      'user-agent': 'unified-model-gateway',
      'x-request-id': this.id,
    }
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return spliceObject(this.#bytes, this.#members, members)
  }

  edit(pointer: string, value: unknown): void {
    if (this.#sealed) throw new Misuse('EDIT_AFTER_NEXT')
    const body = structuredClone(this.body) as ChatRequest
    setPointer(body, pointer, value)
    this.#context.check(body)
    const bytes = Buffer.from(JSON.stringify(body))
    this.#members = membersOf(bytes)
    this.#bytes = bytes
    this.#head = this.#isSmall ? body : this.#readSmallMembers()
    this.#body = new WeakRef(body)
    this.#model = undefined
  }

  /** No more edits: core has decided where the call goes. */
  seal(): void {
    this.#sealed = true
  }

  #resolveModel(): ModelId {
    const name = this.#head.model as string
    const model = this.#context.resolve(name)
    if (model === undefined) throw new GatewayError('model_not_found', { param: 'model', values: { model: name.slice(0, 200) } })
    return model
  }

  get #isSmall(): boolean {
    return this.#bytes.length <= WHOLE_BELOW
  }

  get #parsed(): ChatRequest | undefined {
    return this.#isSmall ? (this.#head as ChatRequest) : this.#body?.deref()
  }

  #readHead(): Readonly<Record<string, unknown>> {
    const head = this.#isSmall ? this.#parseWhole() : this.#readSmallMembers()
    this.#context.check(head)
    if (head.stream_options != null && head.stream !== true) {
      const detail = "it is only allowed when 'stream' is true"
      throw new GatewayError('invalid_value', { param: 'stream_options', values: { detail } })
    }
    return head
  }

  /** V8 can take an escaped key for another one (nodejs/node#63785), but what is checked must be what is sent. */
  #parseWhole(): ChatRequest {
    const body = parse(this.#bytes) as ChatRequest
    if (this.#members.every(({ key }) => Object.hasOwn(body, key))) return body
    const members = this.#members.map(({ key, start, end }) => [key, parse(this.#bytes.subarray(start, end))])
    return Object.fromEntries(members)
  }

  /** The members of a large body that can be checked without parsing what makes it large. */
  #readSmallMembers(): Record<string, unknown> {
    const head: Record<string, unknown> = Object.create(null)
    for (const { key, start, end } of this.#members) {
      if (end - start <= SMALL_MEMBER) head[key] = parse(this.#bytes.subarray(start, end))
      else if (Object.hasOwn(UNREAD, key) && this.#bytes[start] === 0x5b) head[key] = UNREAD[key]
      else if (this.#bytes[start] === 0x22) head[key] = this.#bytes.toString('utf8', start + 1, start + SMALL_MEMBER)
      else if (Object.hasOwn(UNREAD, key) || key === 'model') head[key] = {}
    }
    return head
  }
}

/** Stand for what is not parsed: arrays that are too large to be empty. */
const UNREAD: Readonly<Record<string, readonly unknown[]>> = { messages: [{ role: 'user', content: '' }], input: [''] }

function parse(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'))
  } catch {
    throw new GatewayError('invalid_json')
  }
}
