import type { ErrorName } from '../error-table.ts'
import type { GatewayError } from '../errors.ts'
import type { Budget } from '../text/budgets.ts'
import type { ChatChunk, ChatCompletion, ChatRequest, Usage } from './chat.ts'
import type { ParameterSupport } from './parameters.ts'
import type { Upload } from './upload.ts'

// ── Models and principals ──────────────────────────────────────────────────────────────────────────────────────────────────

/** A model as a client names it: `openrouter/meta-llama/llama-3` is namespace `openrouter`, model `meta-llama/llama-3`. */
export interface ModelId {
  /** The whole id, aliases resolved: `<namespace>/<model>`. */
  readonly id: string
  readonly namespace: string
  readonly model: string
  /** The alias that the client wrote; absent if it wrote the id. */
  readonly alias?: string
}

/** The API key and the account of a call. `auth` sets it; core refuses a call without one. */
export interface Principal {
  readonly keyId: string
  /** The first of the keys that this one replaces, by rotation: they share their limits and budgets. Absent: it replaces none. */
  readonly firstKeyId?: string
  /** The key's name, as its owner chose it. */
  readonly name: string
  /** `test` keys are answered by the sandbox unless the namespace says `testKeys: upstream`. */
  readonly kind: 'live' | 'test'
  readonly account: string
  /** Lists of globs of model ids; a call's model must match a glob of each list. */
  readonly models: readonly (readonly string[])[]
  /** The rate class of the key or of its account; absent: the default of rate-tagging. */
  readonly rateClass?: string
  /** What its key and its account may spend, which core sees to. Absent: no budget. */
  readonly budgets?: { readonly key: readonly Budget[]; readonly account: readonly Budget[] }
  /** Labels of the key, such as `team`. */
  readonly tags?: Readonly<Record<string, string>>
}

// ── A call ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** An endpoint, by OpenAI's name of its operation. */
export type EndpointName =
  | ModelEndpointName
  | 'models'
  | 'responses.retrieve'
  | 'responses.delete'
  | 'responses.cancel'
  | 'responses.input_items'
  | 'conversations.create'
  | 'conversations.retrieve'
  | 'conversations.update'
  | 'conversations.delete'
  | 'conversations.items.create'
  | 'conversations.items.list'
  | 'conversations.items.retrieve'
  | 'conversations.items.delete'

/** An endpoint at which a model is called. */
export type ModelEndpointName =
  | 'chat.completions'
  | 'completions'
  | 'embeddings'
  | 'messages'
  | 'messages.count_tokens'
  | 'responses'
  | 'responses.compact'
  | 'responses.input_tokens'
  | 'moderations'
  | 'images.generations'
  | 'images.edits'
  | 'audio.speech'
  | 'audio.transcriptions'
  | 'audio.translations'
  | 'rerank'

/** The pictures, and the files of other kinds, of a call's prompt. */
export interface Media {
  readonly pictures: number
  /** Documents, recordings and videos. */
  readonly files: number
}

/** One client request, read and validated. */
export interface Call {
  /** The request id, `req_…`. */
  readonly id: string
  readonly endpoint: EndpointName
  /** The requested model. */
  readonly model: ModelId
  readonly stream: boolean
  /** Whether the client requested the usage chunk of a stream. */
  readonly includeUsage: boolean
  /** The requested number of choices. */
  readonly choices: number
  /** Length of the client's body, in bytes; of a form, without its files. */
  readonly size: number
  /** True if parsing the body would block the event loop: more than 1 MiB, or 8,192 objects and arrays. See `host.compute`. */
  readonly large: boolean
  /** What its prompt has of media at most, whether as data or by an address: a scan of the body, at the first access. */
  readonly media: Media
  /**
   * The most tokens that its upstream adds to its prompt of what it keeps, such as the conversation of `previous_response_id`: 0 if the call refers to
   * nothing, undefined if that is unknown. The ids are not verified here: a call with a wrong one is not sent.
   */
  readonly keptTokens: number | undefined
  /** The names of the body's top-level members. */
  readonly keys: readonly string[]
  /**
   * The whole body, parsed on first access. Read only: change it by `edit`. At `/v1/messages` it is the chat completion request that
   * the client's is translated to; at other endpoints than chat completions it has the members of that endpoint.
   */
  readonly body: Readonly<ChatRequest>
  /**
   * Whether an object or an array in the body may have a member of one of these names, such as `tool_calls`: far cheaper than to parse it. True if it
   * cannot tell, as of a body that the gateway has made.
   */
  mayHave(names: readonly string[]): boolean
  /** One top-level member of the body, parsed by itself: reading a small member of a large body is cheap. */
  member(key: string): unknown
  /**
   * Headers of every upstream request, lower case: content-type, accept, accept-encoding, user-agent, x-request-id and those that
   * chain plugins added. A provider spreads them into its own.
   */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The client's own bytes with some top-level members replaced, added, or (by `undefined`) removed. All other bytes are unchanged, so
   * unknown fields, key order and large integers survive.
   */
  splice(members: Readonly<Record<string, unknown>>): Buffer
  /**
   * Present if the body is a form (`multipart/form-data`): the form with some texts replaced, added, or (by `undefined`) removed. Members of a
   * form are texts, or lists of them; a file is `{ filename, type, size }`, and `splice` returns all of it as JSON. See `bodyWith`.
   */
  readonly form?: ((members: Readonly<Record<string, unknown>>) => Upload) | undefined
  /**
   * Present if the body is a form: its files of these names in memory, for an upstream that takes them within JSON. They count as bodies do: at
   * four thirds of their length, as in base64. Rejects with a `GatewayError` (503) if there is no room for them.
   */
  readonly files?: ((names: readonly string[]) => Promise<readonly File[]>) | undefined
  /**
   * Changes the body, by JSON pointer (`/temperature`, `/messages/0/content`); `undefined` removes. The body is then
   * re-serialised, no longer byte for byte the client's. Only before `next()`.
   */
  edit(pointer: string, value: unknown): void
}

/** How a link sends or changes the reply. */
export interface Reply {
  /**
   * Answers without the upstream: a completion for a call that does not stream, chunks for one that does. Instead of `next()`, not
   * before or after it. No tokens are charged.
   */
  send(reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>): void
  /**
   * Receives every chunk or the completion of any provider before the client does, and may change it; the links below receive it
   * first. Only before `next()`.
   */
  transform(transform: ReplyTransform): void
}

/** The argument of `reply.transform`: one function for streams, one for whole replies. Both are synchronous. */
export interface ReplyTransform {
  /**
   * Returns the chunk to send, several of them in their order, or undefined to drop it; the `role` and the `finish_reason` of a dropped
   * chunk are still sent. What a link holds back it sends before the chunk with the `finish_reason`, the last one with content.
   */
  chunk?(chunk: ChatChunk): ChatChunk | readonly ChatChunk[] | undefined
  /** Returns the completion to send. */
  completion?(completion: ChatCompletion): ChatCompletion
}

/** The target that served a call, known when the reply is committed. */
export interface Served {
  readonly namespace: string
  /** The upstream's name of the model. */
  readonly model: string
  /** The provider plugin's name. */
  readonly provider: string
  /** The name of its credential, if its namespace has several. */
  readonly credential?: string
}

/** One attempt at one target. */
export interface AttemptRecord extends Served {
  /** `ok`, or the name of the error that ended it. */
  readonly result: string
  /** Milliseconds from the arrival of the request to the start of the attempt. */
  readonly start: number
  /** Milliseconds from its start to its end. */
  readonly ms: number
  /** The status with which the upstream refused the request, if it did. */
  readonly status?: number
}

/** The time that one link took of a call. */
export interface LinkRecord {
  /** The plugin's name. */
  readonly name: string
  /** Its own milliseconds, on the way in and on the way out, without those of `next()`. */
  readonly ms: number
  /** True for the link that answered in place of an upstream. */
  readonly answered?: true
}

/** How a call was routed. */
export interface RouteTrace {
  /** The id of the requested model, aliases resolved. */
  readonly route: string
  /**
   * What of the call chose the target, and its credential, of several: the name of a header or member that it has in common with other calls, never the
   * value. Absent where nothing of it did: weights did, or turns.
   */
  readonly affinity: { readonly target?: string; readonly credential?: string }
  /** Targets that were not attempted, and why: the name of an error, or that one of the refusals before is not long ago. */
  readonly skipped: readonly { readonly target: string; readonly why: ErrorName | 'cooling_down' }[]
  /**
   * The support of each parameter of the request by the target attempted last, or if none was, by the first target skipped because of
   * a parameter. `verbatim`: all were passed on unchanged.
   */
  readonly parameters: 'verbatim' | Readonly<Record<string, ParameterSupport>>
}

/** How a call ended. */
export type OutcomeKind =
  | 'ok'
  | 'client_error'
  | 'rate_limited'
  | 'upstream_error'
  | 'timeout'
  | 'client_closed'
  | 'gateway_error'

/** What a call costs. */
export interface Cost {
  /** In billionths of a US dollar, a whole number: sums are exact. `formatUsd` shows it. */
  readonly nanoUsd: number
  /** What the tokens that the upstream has read from its cache would have cost more without it, in the same unit. Absent: nothing. */
  readonly savedNanoUsd?: number
  /** The price that was applied, with its version, and those of several attempts joined by ` + `: `genai-prices 0.1.8 openai/gpt-4o`, or `routes.yaml` and the price. */
  readonly price: string
}

/** The result of a call, after its last byte. */
export interface Outcome {
  readonly kind: OutcomeKind
  /** The HTTP status sent; 499 if the client disconnected first. */
  readonly status: number
  /** The error, if the call failed, before or after the head was sent. */
  readonly error?: GatewayError
  /** `none`: the request reached no endpoint of `/v1`. */
  readonly endpoint: EndpointName | 'none'
  /** Absent if the call ended before its model was known. */
  readonly model?: ModelId
  readonly stream: boolean
  readonly served?: Served
  readonly attempts: readonly AttemptRecord[]
  /** The links that ran, in the chain's order: also those that threw or hung, not those that `when` excluded. */
  readonly links: readonly LinkRecord[]
  /** Of all attempts that used tokens, whether they failed or not. Absent if no upstream took the call: nothing is charged. */
  readonly usage?: Usage
  /** True if an upstream did not report its usage. */
  readonly usageEstimated: boolean
  /** The cost of `usage`. Absent without usage, and if a price is not known. */
  readonly cost?: Cost
  /** Milliseconds: of the whole call; to the first byte of the reply's content; in the gateway itself, until the head. */
  readonly times: { readonly total: number; readonly firstByte?: number; readonly overhead: number }
}

/** `ctx.state` of every link, the same for streams and non-streams. */
export interface CallState {
  /** The request id, `req_…`, sent with the reply as `x-request-id`. */
  readonly id: string
  readonly endpoint: EndpointName
  /** False at an endpoint that calls no model, such as a list: then `call` and `reply.send` throw. */
  readonly callsModel: boolean
  /** Set by auth. */
  principal: Principal | undefined
  /** The operator's labels for this call: rate-tagging sets them, the log and the usage rows record them. */
  readonly tags: Record<string, string>
  /** Headers for the upstream, lower case. */
  readonly upstreamHeaders: Record<string, string>
  /** Reads and validates the body, on the first call. Throws the 4xx for the client. Rejects for `models`, which has no body. */
  call(): Promise<Call>
  /** The requested model, once the body has been read. */
  readonly model?: ModelId
  readonly reply: Reply
  /** After `next()`: the target that served the call, if one did. */
  readonly served: Served | undefined
  /** After `next()`: the attempts so far. */
  readonly attempts: readonly AttemptRecord[]
  /** After `next()`: the cost of a whole reply. Undefined for a stream, whose usage follows at its end, and if no price is known. */
  readonly cost: Cost | undefined
  /** After `next()`: how the call was routed, also if it was refused; undefined if it was before its model was known. */
  readonly trace: RouteTrace | undefined
  /** After `next()`: why the call failed before its head, if it did. */
  readonly failure: GatewayError | undefined
  /** Milliseconds since the request arrived, in total and without the upstream's. */
  elapsed(): { readonly total: number; readonly overhead: number }
  /**
   * Runs before an attempt that follows failed ones which have used tokens: `used` has those of all of them. If it throws, there is no further
   * attempt, and the call ends with that error.
   */
  onRetry(fn: (used: Usage) => void | Promise<void>): void
  /** Runs after the last byte of every call, also of refused, failed and aborted calls; core limits its time and catches its errors. */
  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void
  /** Aborted when the client disconnects or the call ends. */
  readonly signal: AbortSignal
}
