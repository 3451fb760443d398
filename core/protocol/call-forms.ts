import { GatewayError } from '../errors.ts'
import { ContractViolation } from '../plugins/faults.ts'
import {
  type Call,
  type CallFunction,
  type ChatCompletion,
  type ChatRequest,
  type EndpointName,
  type ModelId,
  promptEstimate,
} from '../sdk/api.ts'
import { bodyMayInclude, type CallContext, type ClientCall, guardedOf, rewritten, spliced } from './call.ts'
import { chatCompletions } from './chat-completions.ts'
import { type ChatSource, ChatView } from './chat-view.ts'
import type {
  ChatTranslation,
  CleanedBody,
  ClientHeaders,
  ClientProtocol,
  ClientReplies,
  Profile,
  RepliedCall,
  ReplyWriter,
} from './client-protocol.ts'
import { fitChat, profileKey } from './fit-chat.ts'
import { setPointer } from './json.ts'
import type { Keeper, KeptCall } from './kept-ids.ts'
import { toUpstream } from './kept-references.ts'
import { type BodyScanner, largeCall } from './large-call.ts'
import type { StateOwner } from './state.ts'

/** A call as an upstream gets it. */
export interface FittedCall {
  readonly call: Call
  /** Parameters left out, by their names in chat completions or the client's. */
  readonly dropped: readonly string[]
}

/** The services that translate large calls off the event loop. */
export interface CallWorkers extends BodyScanner {
  compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input): Promise<Result>
}

/** By the view of the call that links and routing have. */
const FORMS = new WeakMap<Call, CallForms>()

/** The forms of a call of another protocol than chat completions; undefined for other calls. */
export const formsOf = (call: Call): CallForms | undefined => FORMS.get(call)

/** What a call is to its keeper. */
export function keptCall(call: Call, keeper: Keeper): KeptCall {
  const client = formsOf(call)?.client ?? call
  const tokens = client.keptTokens
  const previous = guardedOf(client).find(({ param }) => param === 'previous_response_id')?.value
  return { keeper, previous, promptTokens: tokens === undefined ? undefined : promptEstimate(client) + tokens }
}

/**
 * The forms of a call of another protocol: the client's own bytes, for upstreams that speak the protocol, and chat completion requests,
 * for links and all other upstreams. Each is made when it is first needed.
 */
export class CallForms implements ChatSource, ClientReplies {
  readonly protocol: ClientProtocol
  readonly client: ClientCall
  readonly #context: CallContext
  readonly #view = new ChatView(this)
  readonly #fitted = new Map<string, FittedCall | GatewayError>()
  readonly #translated = new Remade(() => this.protocol.toChat(this.client.body, this.#clientHeaders))
  #edited: { readonly model: ModelId; readonly chat: ChatTranslation } | undefined
  #native: FittedCall | undefined
  #needsChat = false

  constructor(client: ClientCall, protocol: ClientProtocol, context: CallContext) {
    this.client = client
    this.protocol = protocol
    this.#context = context
    FORMS.set(this.#view, this)
  }

  /** The call as links see it. */
  get view(): Call {
    return this.#view
  }

  get endpoint(): EndpointName {
    return this.client.endpoint
  }

  get model(): ModelId {
    return this.#edited?.model ?? this.client.model
  }

  /** Without those of the client's protocol. */
  get headers(): Readonly<Record<string, string>> {
    return Object.fromEntries(Object.entries(this.client.headers).filter(([name]) => !Object.hasOwn(this.#clientHeaders, name)))
  }

  get body(): Readonly<ChatRequest> {
    return this.#chat.body
  }

  member(key: string): unknown {
    const own = this.#edited === undefined && Object.hasOwn(this.protocol.sameAs, key) ? this.protocol.sameAs[key]! : undefined
    if (own !== undefined) return this.client.member(own)
    return Object.hasOwn(this.body, key) ? this.body[key] : undefined
  }

  edit(pointer: string, value: unknown): void {
    if (this.#context.decided) throw new ContractViolation('EDIT_AFTER_NEXT')
    const body = structuredClone(this.body) as ChatRequest
    setPointer(body, pointer, value)
    chatCompletions.check(body)
    const model = body.model === this.body.model ? this.model : this.#context.resolve(body.model)
    this.#edited = { model, chat: { ...this.#chat, body } }
  }

  /** The client's own call; undefined if a link has edited it. */
  get unedited(): ClientCall | undefined {
    return this.#edited === undefined ? this.client : undefined
  }

  /** The reply must pass links as a chat completion: then no upstream gets the client's own bytes. */
  needChat(): void {
    this.#needsChat = true
  }

  /**
   * The call for an upstream of the client's protocol. Undefined if links change the call or its reply. Throws `GatewayError` (400) for
   * members that no upstream may get.
   */
  get native(): FittedCall | undefined {
    if (this.#edited !== undefined || this.#needsChat) return undefined
    this.#native ??= this.#toNative()
    return this.#native
  }

  /** The call for any other upstream. Throws `GatewayError` (400) for what only an upstream of the client's protocol serves. */
  chatFor(profile: Profile): FittedCall {
    const key = profileKey(profile)
    const known = this.#fitted.get(key)
    if (known instanceof GatewayError) throw known
    if (known !== undefined) return known
    const chat = new Remade(() => fitChat(this.#chat, profile))
    const dropped = [...chat.value.dropped, ...this.#lostHeaders]
    const fitted = { call: new ChatView(new FittedSource(this, chat)), dropped }
    this.#fitted.set(key, fitted)
    return fitted
  }

  /**
   * Translates a large call in a thread, before `chatFor` is called with these profiles. What cannot be translated is an error of `chatFor`:
   * another candidate may take the client's own bytes.
   */
  async prepare(profiles: Iterable<Profile>, workers: CallWorkers): Promise<void> {
    if (!this.client.large || this.#edited !== undefined) return
    for (const profile of profiles) {
      const key = profileKey(profile)
      if (!this.#fitted.has(key)) this.#fitted.set(key, await this.#translateLarge(profile, workers))
    }
  }

  async #translateLarge(profile: Profile, workers: CallWorkers): Promise<FittedCall | GatewayError> {
    const { clientHeaders: _, ...context } = this.#context
    try {
      const { bytes, dropped } = await workers.compute(this.client, this.protocol.toChatBytes, {
        profile,
        headers: this.#clientHeaders,
      })
      const chat = { ...context, endpoint: chatCompletions.name, check: chatCompletions.check }
      const call = await largeCall(Buffer.from(bytes.buffer), chat, workers)
      return { call, dropped: [...dropped, ...this.#lostHeaders] }
    } catch (error) {
      if (error instanceof GatewayError && error.row === 'unsupported_parameter') return error
      throw error
    }
  }

  reply(completion: ChatCompletion, owner?: StateOwner): object {
    return this.protocol.reply(completion, this.#repliedBy(owner))
  }

  writer(owner?: StateOwner): ReplyWriter {
    return this.protocol.writer(this.#repliedBy(owner))
  }

  #repliedBy(owner: StateOwner | undefined): RepliedCall {
    const { client, model } = this
    return {
      model: model.id,
      owner,
      promptEstimate: promptEstimate(client),
      large: client.large,
      member: (name) => client.member(name),
      mayInclude: (json) => bodyMayInclude(client, [json]),
    }
  }

  get #clientHeaders(): ClientHeaders {
    return this.#context.clientHeaders ?? {}
  }

  /** The headers of the client's protocol, which only its own upstreams get. Its version holds for other upstreams too. */
  get #lostHeaders(): readonly string[] {
    return Object.keys(this.#clientHeaders).filter((name) => name !== this.protocol.versionHeader)
  }

  get #chat(): ChatTranslation {
    return this.#edited?.chat ?? this.#translated.value
  }

  #toNative(): FittedCall {
    const { protocol } = this
    const call = rewritten(this.client, toUpstream(guardedOf(this.client)))
    const { changes, dropped } = bodyMayInclude(call, protocol.suspicious) ? protocol.cleaned(call.body) : CLEAN
    return { call: spliced(call, changes), dropped }
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

/** What a provider of chat completions gets. */
class FittedSource implements ChatSource {
  readonly endpoint = chatCompletions.name
  readonly model: ModelId
  readonly client: ClientCall
  readonly #forms: CallForms
  readonly #chat: Remade<{ readonly body: ChatRequest }>

  constructor(forms: CallForms, chat: Remade<{ readonly body: ChatRequest }>) {
    this.model = forms.model
    this.client = forms.client
    this.#forms = forms
    this.#chat = chat
  }

  /** Each attempt may have others. */
  get headers(): Readonly<Record<string, string>> {
    return this.#forms.headers
  }

  get body(): Readonly<ChatRequest> {
    return this.#chat.value.body
  }

  member(key: string): unknown {
    const { body } = this
    return Object.hasOwn(body, key) ? body[key] : undefined
  }

  edit(): never {
    throw new ContractViolation('EDIT_AFTER_NEXT')
  }
}
