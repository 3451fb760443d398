import { GatewayError } from '../errors.ts'
import { ContractViolation } from '../plugins/faults.ts'
import { type Call, type CallFunction, type ChatRequest, type EndpointName, promptEstimate } from '../sdk/api.ts'
import { ClientCall, type RequestBody } from './call.ts'
import { chatCompletions } from './chat-completions.ts'
import type {
  ChatTranslation,
  CleanedBody,
  ClientHeaders,
  ClientProtocol,
  ClientReplies,
  Profile,
  RepliedCall,
} from './client-protocol.ts'
import { fitChat, profileKey } from './fit-chat.ts'
import { setPointer } from './json.ts'
import { type BodyScanner, type JsonBody, readLarge } from './json-body.ts'
import { toUpstream } from './kept-references.ts'
import type { StateOwner } from './state.ts'

/** The body of a call as an upstream gets it. */
export interface FittedBody {
  readonly body: RequestBody
  /** Parameters left out, by their names in chat completions or the client's. */
  readonly dropped: readonly string[]
}

/** The services that translate large calls off the event loop. */
export interface CallWorkers extends BodyScanner {
  compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input): Promise<Result>
}

/** The body of a call of another protocol than chat completions, as links see it. */
export const translated = (client: JsonBody, protocol: ClientProtocol): RequestBody => new Translation(client, protocol).body

/** The translation of a call of another protocol than chat completions; undefined for other calls. */
export function translationOf(call: Call): Translation | undefined {
  const body = call instanceof ClientCall ? ClientCall.bodyOf(call) : undefined
  return body instanceof ChatBody ? body.translation : undefined
}

/** The call with the body that its client sent, unless a link has edited it. */
export function asSent(call: Call): Call {
  const translation = translationOf(call)
  return translation === undefined || translation.isEdited ? call : ClientCall.with(call, translation.client)
}

/** A request as a chat completion request. */
interface Chat {
  readonly value: { readonly body: ChatRequest }
}

/** A chat completion request that the gateway has made of a client's request of another protocol. */
class ChatBody implements RequestBody {
  readonly client: JsonBody
  readonly endpoint: EndpointName
  /** What it belongs to, if it is what links see. */
  readonly translation: Translation | undefined
  readonly #chat: Chat

  constructor(client: JsonBody, endpoint: EndpointName, chat: Chat, translation?: Translation) {
    this.client = client
    this.endpoint = endpoint
    this.translation = translation
    this.#chat = chat
  }

  get type(): string {
    return 'application/json'
  }

  get model(): string {
    return this.translation?.isEdited === false ? this.client.model : this.value.model
  }

  get includeUsage(): boolean {
    return this.client.stream
  }

  get choices(): number {
    return 1
  }

  get keys(): readonly string[] {
    return Object.keys(this.value)
  }

  get value(): Readonly<ChatRequest> {
    return this.#chat.value.body
  }

  member(key: string): unknown {
    const own = this.translation?.ownName(key)
    if (own !== undefined) return this.client.member(own)
    return Object.hasOwn(this.value, key) ? this.value[key] : undefined
  }

  mayHave(): boolean {
    return true
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return Buffer.from(JSON.stringify({ ...this.value, ...members }))
  }

  edited(pointer: string, value: unknown): RequestBody {
    // Upstreams get theirs after the last edit.
    if (this.translation === undefined) throw new ContractViolation('EDIT_AFTER_NEXT')
    const body = structuredClone(this.value) as ChatRequest
    setPointer(body, pointer, value)
    chatCompletions.check(body)
    return this.translation.edited(body).body
  }
}

/**
 * A client's request of another protocol, and the bodies that are made of it: the client's own bytes, for upstreams that speak the protocol, and
 * chat completion requests, for links and all other upstreams. Each is made when it is first needed.
 */
export class Translation {
  readonly client: JsonBody
  readonly protocol: ClientProtocol
  /** What links see. */
  readonly body: RequestBody
  /** Whether a link has changed it. */
  readonly isEdited: boolean
  readonly #chat: { readonly value: ChatTranslation }
  #fitted: Map<string, FittedBody | GatewayError> | undefined
  #native: FittedBody | undefined
  #needsChat = false

  /** `edited`: the translation as links have left it. */
  constructor(client: JsonBody, protocol: ClientProtocol, edited?: ChatTranslation) {
    this.client = client
    this.protocol = protocol
    this.isEdited = edited !== undefined
    this.#chat = edited ? { value: edited } : new Remade(() => protocol.toChat(client.value, this.#clientHeaders))
    this.body = new ChatBody(client, client.endpoint, this.#chat, this)
  }

  /** The translation after a link has changed the chat completion request to `body`. */
  edited(body: ChatRequest): Translation {
    return new Translation(this.client, this.protocol, { ...this.#chat.value, body })
  }

  /** The client's name of a parameter that has the same value in the client's body. */
  ownName(parameter: string): string | undefined {
    const { sameAs } = this.protocol
    return !this.isEdited && Object.hasOwn(sameAs, parameter) ? sameAs[parameter] : undefined
  }

  /** The reply must pass links as a chat completion: then no upstream gets the client's own bytes. */
  needChat(): void {
    this.#needsChat = true
  }

  /**
   * The body for an upstream of the client's protocol. Undefined if links change the call or its reply. Throws `GatewayError` (400) for
   * members that no upstream may get.
   */
  get native(): FittedBody | undefined {
    if (this.isEdited || this.#needsChat) return undefined
    this.#native ??= this.#toNative()
    return this.#native
  }

  /** The body for any other upstream. Throws `GatewayError` (400) for what only an upstream of the client's protocol serves. */
  chatFor(profile: Profile): FittedBody {
    const key = profileKey(profile)
    const known = this.#fitted?.get(key)
    if (known instanceof GatewayError) throw known
    if (known !== undefined) return known
    const chat = new Remade(() => fitChat(this.#chat.value, profile))
    const dropped = [...chat.value.dropped, ...this.#lostHeaders]
    const fitted = { body: new ChatBody(this.client, chatCompletions.name, chat), dropped }
    this.#keep(key, fitted)
    return fitted
  }

  /**
   * Translates the body of a large call in a thread, before `chatFor` is called with these profiles. What cannot be translated is an error of
   * `chatFor`: another candidate may take the client's own bytes.
   */
  async prepare(call: Call, profiles: Iterable<Profile>, workers: CallWorkers): Promise<void> {
    if (!this.client.large || this.isEdited) return
    const sent = ClientCall.with(call, this.client)
    for (const profile of profiles) {
      const key = profileKey(profile)
      if (!this.#fitted?.has(key)) this.#keep(key, await this.#translateLarge(sent, profile, workers))
    }
  }

  #keep(key: string, fitted: FittedBody | GatewayError): void {
    this.#fitted ??= new Map()
    this.#fitted.set(key, fitted)
  }

  async #translateLarge(sent: Call, profile: Profile, workers: CallWorkers): Promise<FittedBody | GatewayError> {
    const { name: endpoint, check } = chatCompletions
    const { memory } = this.client.source
    try {
      const { bytes, dropped } = await workers.compute(sent, this.protocol.toChatBytes, { profile, headers: this.#clientHeaders })
      const body = await readLarge(Buffer.from(bytes.buffer), { endpoint, check, memory }, workers, this.client)
      return { body, dropped: [...dropped, ...this.#lostHeaders] }
    } catch (error) {
      if (error instanceof GatewayError) return error
      throw error
    }
  }

  /** Frees the bodies that were made: they are not kept with the connection. */
  release(): void {
    this.#fitted = undefined
    this.#native = undefined
  }

  /** The replies to the call, in its client's protocol. */
  repliesTo(call: Pick<Call, 'model'>): ClientReplies {
    const { client, protocol } = this
    const repliedBy = (owner: StateOwner | undefined): RepliedCall => ({
      model: call.model.id,
      owner,
      promptEstimate: promptEstimate(client),
      large: client.large,
      kept: client.kept,
      member: (name) => client.member(name),
      mayInclude: (json) => client.mayInclude([json]),
    })
    return {
      reply: (completion, owner) => protocol.reply(completion, repliedBy(owner)),
      writer: (owner) => protocol.writer(repliedBy(owner)),
    }
  }

  get #clientHeaders(): ClientHeaders {
    return this.client.clientHeaders ?? {}
  }

  /** The headers of the client's protocol, which only its own upstreams get. Its version holds for other upstreams too. */
  get #lostHeaders(): readonly string[] {
    return Object.keys(this.#clientHeaders).filter((name) => name !== this.protocol.versionHeader)
  }

  #toNative(): FittedBody {
    const { client, protocol } = this
    const body = client.rewritten(toUpstream(client.guarded))
    const { changes, dropped } = body.mayInclude(protocol.suspicious) ? protocol.cleaned(body.value) : CLEAN
    return { body: body.spliced(changes), dropped }
  }
}

const CLEAN: CleanedBody = { changes: {}, dropped: [] }

/** A value that can be made again. It is held weakly: a call may wait for minutes. */
class Remade<Value extends object> {
  readonly #make: () => Value
  #held: WeakRef<Value> | undefined

  constructor(make: () => Value) {
    this.#make = make
  }

  get value(): Value {
    const known = this.#held?.deref()
    if (known !== undefined) return known
    const made = this.#make()
    this.#held = new WeakRef(made)
    return made
  }
}
