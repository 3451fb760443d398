import type { GatewayError } from '../errors.ts'
import type { CallFunction, ChatChunk, ChatCompletion, ChatRequest, EndpointName, Hints } from '../sdk/api.ts'
import type { RequestBody } from './call.ts'
import type { KeptReply } from './kept-reply.ts'
import type { Foreign } from './notes.ts'
import type { StateOwner } from './state.ts'

/** The endpoints at which a model converses: links see their calls and replies as chat completions, and the model may use tools. */
export const CONVERSATIONS: ReadonlySet<string> = new Set<EndpointName>(['chat.completions', 'messages', 'responses'])

/**
 * What clients of an endpoint get from the gateway itself: errors, and signs of life in a silent stream. The replies of upstreams are the
 * matter of `ReplyFormat`, and of `ClientProtocol` where they are translated.
 */
export interface ClientWire {
  /** The body of an error reply. */
  error(error: GatewayError): object
  /** The status of an error reply. Default: the error's. */
  status?(error: GatewayError): number
  /** The frame that ends a broken stream. `last`: the frames before it, or the last of them; '' if there are none. */
  errorFrame(error: GatewayError, last: string): string
  /** A frame that clients ignore. It stands in streams that have begun. '': clients would not ignore any. */
  readonly heartbeat: string
  /** A second header for the request's id, which the SDKs of the protocol read. */
  readonly requestIdHeader?: string
}

/** OpenAI's: of all endpoints that do not say otherwise. */
export const OPENAI_WIRE: ClientWire = {
  error: (error) => error.toJSON(),
  errorFrame: (error) => `data: ${JSON.stringify(error)}\n\n`,
  heartbeat: ': keep-alive\n\n',
}

/** OpenAI's, for replies that are no stream of events: there is no place in them for anything but the upstream's bytes. */
export const BYTES_WIRE: ClientWire = { ...OPENAI_WIRE, errorFrame: () => '', heartbeat: '' }

/** A request of a protocol as a chat completion request. */
export interface ChatTranslation {
  readonly body: ChatRequest
  /** Members, by the client's names, that chat completions have no place for and that are harmless to leave out. */
  readonly dropped: readonly string[]
  /** True if parts, tools or tool calls have `cache_control`, which few upstreams take. */
  readonly hasCacheMarks: boolean
  /** True if the effort of reasoning is a hint, which a model that does not take it need not get. */
  readonly effortIsHint?: true
  /** The first thing that only an upstream of the client's own protocol can serve. It stands in `body` too, for links to see. */
  readonly foreign?: Foreign
}

/** Changes to a client's body. */
export interface CleanedBody {
  /** The members to replace, or by `undefined` to remove. */
  readonly changes: Readonly<Record<string, unknown>>
  /** Members that are left out, by the client's names. */
  readonly dropped: readonly string[]
}

/** What the reply of a protocol needs to know of its call. */
export interface RepliedCall {
  /** The requested model. */
  readonly model: string
  /** Tokens of the prompt if the upstream does not report them. */
  readonly promptEstimate: number
  /** Whether the body is large. */
  readonly large: boolean
  /** Who made the reply's state; undefined if its provider has no name for it, and for the reply of a link. */
  readonly owner: StateOwner | undefined
  /** Present if the gateway keeps the reply. */
  readonly kept?: KeptReply | undefined
  /** A top-level member of the client's body. */
  member(name: string): unknown
  /** Whether the client's body may have this text, which is JSON of ASCII characters. */
  mayInclude(json: string): boolean
}

/** Writes a stream of chunks as a client's events. */
export interface ReplyWriter {
  /** The frames of a chunk: '' if none are due yet. */
  write(chunk: ChatChunk): string
  /** The frames that end a complete stream. */
  end(): string
}

/** The replies to one call, in its client's protocol. `owner`: who made their state. */
export interface ClientReplies {
  reply(completion: ChatCompletion, owner?: StateOwner): object
  writer(owner?: StateOwner): ReplyWriter
}

/** The client's headers that its protocol names, lower case. */
export type ClientHeaders = Readonly<Record<string, string>>

/** Input of a protocol's `toChatBytes`. */
export interface ToChatInput {
  readonly profile: Profile
  readonly headers: ClientHeaders
}

/** The chat completion request that an upstream gets, as JSON. */
export interface ChatBytes {
  readonly bytes: Uint8Array
  readonly dropped: readonly string[]
}

/** How an upstream that speaks no protocol of its own takes a chat completion request. */
export interface Profile extends Hints {
  /** `translated` by its provider, `verbatim` as it is, `openai` as it is with what only OpenAI knows. */
  readonly kind: 'translated' | 'verbatim' | 'openai'
}

/**
 * A protocol that clients speak beside chat completions, as pure functions to and from them: links, providers and translators know chat
 * completions only (docs/decisions/client-protocols.md).
 */
export interface ClientProtocol {
  /** Throws `GatewayError` (400) for a request that is invalid by its own rules. */
  toChat(body: Readonly<Record<string, unknown>>, headers: ClientHeaders): ChatTranslation
  /** `fitted(toChat(body, headers))` of a large call, for a worker thread. */
  readonly toChatBytes: CallFunction<ToChatInput, ChatBytes>
  /** Parameters of chat completions that have the same value under the client's name. */
  readonly sameAs: Readonly<Record<string, string>>
  /** The client's names of other parameters, for errors and `x-umg-params-dropped`. */
  readonly namesOf: Readonly<Record<string, string>>
  /** Headers of the request that an upstream of this protocol gets. */
  readonly headers: readonly string[]
  /** That of `headers` by which clients choose a version: translated calls are held to it. */
  readonly versionHeader?: string
  /** Text in a body that must not reach an upstream of this protocol unchanged. */
  readonly suspicious: readonly string[]
  /** What to change in such a body. Throws `GatewayError` (400) for what no upstream may get. */
  cleaned(body: Readonly<Record<string, unknown>>): CleanedBody
  /** The members by which an upstream of this protocol keeps nothing of a call, since the gateway does. Absent: no upstream would. */
  unkept?(body: Pick<RequestBody, 'member'>): Readonly<Record<string, unknown>>
  reply(completion: ChatCompletion, call: RepliedCall): object
  writer(call: RepliedCall): ReplyWriter
}
