import { GatewayError } from '../errors.ts'
import { closeFacade } from '../plugins/facade.ts'
import { ContractViolation } from '../plugins/faults.ts'
import type { Call, ChatRequest, EndpointName, Media, ModelId, Upload } from '../sdk/api.ts'
import type { FoundAddress } from './addresses.ts'
import type { GuardedMember } from './guarded-members.ts'
import { keptTokensIn } from './kept-references.ts'
import type { KeptReply } from './kept-reply.ts'
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

/** What a client's call has in addition to its body. */
export interface CallContext {
  readonly id: string
  readonly endpoint: EndpointName
  readonly check: RequestCheck
  /** Resolves a name or alias to a model id. Throws a GatewayError (404) for one that cannot name a model. */
  resolve(name: string): ModelId
  /** Upstream headers added by chain plugins. */
  readonly upstreamHeaders: Readonly<Record<string, string>>
  /** Headers of the client's request that belong to its protocol, for upstreams that speak it. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  /** Counts parsed bodies. */
  readonly memory: Memory
  /** The reply, if the gateway keeps it. */
  readonly kept?: KeptReply | undefined
  /** True once core has chosen the call's route: then edits are refused. */
  readonly decided: boolean
}

/** The body of a call: the client's own, or one that the gateway has made of it. It never changes: an edit makes another one. */
export interface RequestBody {
  /** The body that the client sent. */
  readonly client: ClientBody
  /** The endpoint whose members it has, or the client's if links see another form of its body. */
  readonly endpoint: EndpointName
  /** Its content type. */
  readonly type: string
  /** The headers of the client's protocol, if the body is of that protocol. */
  readonly clientHeaders?: Readonly<Record<string, string>> | undefined
  /** The name of the requested model. */
  readonly model: string
  /** Whether it asks for the usage of a stream. */
  readonly includeUsage: boolean
  /** The number of choices that it asks for. */
  readonly choices: number
  readonly keys: readonly string[]
  /** All of it, parsed. */
  readonly value: Readonly<ChatRequest>
  /** One member of the top level; undefined if it has none of that name. */
  member(key: string): unknown
  /** As `Call.mayHave`. */
  mayHave(names: readonly string[]): boolean
  /** As JSON with other members of the top level: as `Call.splice`. */
  splice(members: Readonly<Record<string, unknown>>): Buffer
  /** The body after an edit: as `Call.edit`. */
  edited(pointer: string, value: unknown): RequestBody
}

/** The body that a client sent, with what is known of it whichever body is made of it for an upstream. */
export interface ClientBody extends RequestBody {
  readonly stream: boolean
  /** As `Call.size`. */
  readonly size: number
  readonly large: boolean
  readonly media: Media
  /** The addresses that an upstream may fetch. */
  readonly addresses: readonly FoundAddress[]
  /** The members that the gateway has to guard. Throws `GatewayError` (400) for a name that some servers take for one of them. */
  readonly guarded: readonly GuardedMember[]
  /** Of a form: as `Call.form`. */
  upload?(members: Readonly<Record<string, unknown>>): Upload
  /** Of a form: as `Call.files`. */
  files?(names: readonly string[]): Promise<readonly File[]>
  /** The reply to it, if the gateway keeps that. */
  readonly kept?: KeptReply | undefined
  /** Frees what it holds: its connection would hold that as long as it stays open. From then on it cannot be read. */
  release(): void
}

/** Members that a route adds to a body which lacks them. */
export type Defaults = Readonly<Record<string, unknown>>

/**
 * A client's call as links and providers get it: a body, with a route's defaults laid over it. What it works with is private, and plugins cannot
 * reach this class: core gets at the body by its static members (docs/decisions/facades.md).
 */
export class ClientCall implements Call {
  readonly #context: CallContext
  #body: RequestBody
  readonly #defaults: Defaults | undefined
  #model: ModelId | undefined

  /** `defaults`: members that `body` lacks. `model`: if it is already known. */
  constructor(context: CallContext, body: RequestBody, defaults?: Defaults, model?: ModelId) {
    this.#context = context
    this.#body = body
    this.#defaults = defaults
    this.#model = model
  }

  /** The body of a call, which must be one of this class: all calls in the gateway are. */
  static bodyOf(call: Call): RequestBody {
    return (call as ClientCall).#body
  }

  /**
   * The same client's call with another body, and with the defaults that it lacks or has as null. `members`: in place of its own. The call itself if
   * nothing differs.
   */
  static with(call: Call, body: RequestBody, defaults?: Defaults, members?: Defaults): Call {
    const known = call as ClientCall
    const missing = members === undefined ? missingIn(body, defaults) : { ...missingIn(body, defaults), ...members }
    return body === known.#body && missing === undefined ? call : new ClientCall(known.#context, body, missing, known.model)
  }

  get id(): string {
    return this.#context.id
  }

  get endpoint(): EndpointName {
    return this.#body.endpoint
  }

  get model(): ModelId {
    this.#model ??= this.#context.resolve(this.#body.model)
    return this.#model
  }

  get stream(): boolean {
    return this.#body.client.stream
  }

  get includeUsage(): boolean {
    return this.#body.includeUsage
  }

  get choices(): number {
    return (this.#defaults?.n as number | undefined) ?? this.#body.choices
  }

  get size(): number {
    return this.#body.client.size
  }

  get large(): boolean {
    return this.#body.client.large
  }

  get media(): Media {
    return this.#body.client.media
  }

  get keptTokens(): number | undefined {
    return keptTokensIn(this.#body.client.guarded)
  }

  get keys(): readonly string[] {
    const { keys } = this.#body
    return this.#defaults === undefined ? keys : [...new Set([...keys, ...Object.keys(this.#defaults)])]
  }

  get body(): Readonly<ChatRequest> {
    const { value } = this.#body
    return this.#defaults === undefined ? value : { ...value, ...this.#defaults }
  }

  get headers(): Readonly<Record<string, string>> {
    const { client, endpoint, type, clientHeaders } = this.#body
    const whole = client.upload === undefined ? (ACCEPTED[endpoint] ?? 'application/json') : '*/*'
    return {
      ...clientHeaders,
      ...this.#context.upstreamHeaders,
      'content-type': type,
      accept: client.stream ? 'text/event-stream' : whole,
      'accept-encoding': 'identity',
      'user-agent': 'unified-model-gateway',
      'x-request-id': this.id,
    }
  }

  get form(): Call['form'] {
    const { client } = this.#body
    return client.upload && ((members) => client.upload!({ ...this.#defaults, ...members }))
  }

  get files(): Call['files'] {
    const { client } = this.#body
    return client.files && ((names) => client.files!(names))
  }

  mayHave(names: readonly string[]): boolean {
    return this.#body.mayHave(names)
  }

  member(key: string): unknown {
    const defaults = this.#defaults
    return defaults !== undefined && Object.hasOwn(defaults, key) ? defaults[key] : this.#body.member(key)
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return this.#body.splice(this.#defaults === undefined ? members : { ...this.#defaults, ...members })
  }

  edit(pointer: string, value: unknown): void {
    if (this.#context.decided) throw new ContractViolation('EDIT_AFTER_NEXT')
    this.#body = this.#body.edited(pointer, value)
    this.#model = undefined
  }
}

closeFacade(ClientCall)

/** What upstreams may reply with, if it is not JSON. */
const ACCEPTED: { readonly [Endpoint in EndpointName]?: string } = { 'audio.speech': '*/*' }

/** The defaults that a body lacks or has as null; undefined if there are none. */
export function missingIn(body: Pick<RequestBody, 'member'>, defaults: Defaults | undefined): Defaults | undefined {
  if (defaults === undefined) return undefined
  const missing = Object.entries(defaults).filter(([name]) => body.member(name) == null)
  return missing.length === 0 ? undefined : Object.fromEntries(missing)
}

/** The call with the defaults of a route that its body lacks or has as null. */
export const withDefaults = (call: Call, defaults: Defaults | undefined): Call =>
  defaults === undefined ? call : ClientCall.with(call, ClientCall.bodyOf(call), defaults)
