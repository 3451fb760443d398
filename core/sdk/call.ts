import type { ErrorName, GatewayError } from '../errors.ts'
import type { ChatChunk, ChatCompletion, ChatRequest, Usage } from './chat.ts'
import type { ParameterSupport } from './parameters.ts'

// ── Ids and people ──────────────────────────────────────────────────────────────────────────────────────────────────

/** A model as a client names it: `openrouter/meta-llama/llama-3` is namespace `openrouter`, model `meta-llama/llama-3`. */
export interface ModelId {
  /** The whole id, aliases resolved: `<namespace>/<model>`. */
  readonly id: string
  readonly namespace: string
  readonly model: string
}

/** Who a call is. `auth` sets it; core refuses a call without one. */
export interface Principal {
  readonly keyId: string
  /** The key's name, as its owner chose it. */
  readonly name: string
  /** `test` keys are answered by the sandbox unless the namespace says `testKeys: upstream`. */
  readonly kind: 'live' | 'test'
  readonly account: string
  /** Globs of model ids; a call's model must match one of each list. */
  readonly models: readonly (readonly string[])[]
  /** The rate class the key or its account names; absent: the default of rate-tagging. */
  readonly rateClass?: string
  /** Labels that the key carries, such as `team`. */
  readonly tags?: Readonly<Record<string, string>>
}

// ── A call ──────────────────────────────────────────────────────────────────────────────────────────────────────────

/** Which endpoint was asked: the OpenAI name of its operation. */
export type EndpointName = 'chat.completions' | 'embeddings' | 'responses' | 'models'

/** One client request, read and checked. */
export interface Call {
  /** The request id, `req_…`. */
  readonly id: string
  readonly endpoint: EndpointName
  /** The model that was asked for. */
  readonly model: ModelId
  readonly stream: boolean
  /** Whether the client asked for the usage chunk of a stream. */
  readonly includeUsage: boolean
  /** How many choices were asked for. */
  readonly choices: number
  /** Length of the client's body, in bytes. */
  readonly size: number
  /**
   * The whole body, parsed when first looked at. Read only: change it by `edit`. Of an endpoint beside chat completions it is what
   * that endpoint takes.
   */
  readonly body: Readonly<ChatRequest>
  /** One top-level member of the body, parsed by itself: a look at a small one does not cost the parsing of a large body. */
  member(key: string): unknown
  /**
   * What every upstream request carries, lower case: content-type, accept, accept-encoding, user-agent, x-request-id and the
   * headers that chain plugins added. A provider spreads them into its own.
   */
  readonly headers: Readonly<Record<string, string>>
  /**
   * The client's own bytes with some top-level members replaced, added, or (by `undefined`) removed. All other bytes stay as
   * they came, so unknown fields, key order and large integers survive.
   */
  splice(members: Readonly<Record<string, unknown>>): Buffer
  /**
   * Changes the body, by JSON pointer (`/temperature`, `/messages/0/content`); `undefined` removes. The body is then
   * re-serialised: this call gives up the byte-exact path. Only before `next()`.
   */
  edit(pointer: string, value: unknown): void
}

/** What a link can do about the reply. */
export interface Reply {
  /**
   * Answers without the upstream: a completion for a call that does not stream, chunks for one that does. Instead of `next()`,
   * not before or after it. No tokens are charged.
   */
  send(reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>): void
  /**
   * Sees, and may change, every chunk or the completion before the client does, whatever the provider; the links below have seen it
   * before. Only before `next()`.
   */
  transform(transform: ReplyTransform): void
}

/** What `reply.transform` takes: one function for streams, one for whole replies. Both are synchronous. */
export interface ReplyTransform {
  /** Returns the chunk to send, or undefined to drop it; the `role` and the `finish_reason` of a dropped one are sent all the same. */
  chunk?(chunk: ChatChunk): ChatChunk | undefined
  /** Returns the completion to send. */
  completion?(completion: ChatCompletion): ChatCompletion
}

/** Who served a call, known when the reply is committed. */
export interface Served {
  readonly namespace: string
  /** What the upstream calls the model. */
  readonly model: string
  /** The provider plugin's name. */
  readonly provider: string
}

/** One try at one target. */
export interface AttemptRecord extends Served {
  /** `ok`, or the name of the error it ended with. */
  readonly result: string
  /** Milliseconds from its start to its end. */
  readonly ms: number
}

/** What one link took of a call. */
export interface LinkRecord {
  /** The plugin's name. */
  readonly name: string
  /** Milliseconds of its own, on the way in and on the way out: what it called by `next()` is left out. */
  readonly ms: number
}

/** How the routing table led a call. */
export interface RouteTrace {
  /** The id of the model that was asked for, aliases resolved. */
  readonly route: string
  /** Targets that were not asked, and why: the name of an error. */
  readonly skipped: readonly { readonly target: string; readonly why: ErrorName }[]
  /**
   * What became of each parameter of the request: at the target asked last, or, where none was, at the first passed over for one of
   * them. `verbatim`: all were passed on as they came.
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

/** All that is known of a call after its last byte. */
export interface Outcome {
  readonly kind: OutcomeKind
  /** The HTTP status sent; 499 where the client left first. */
  readonly status: number
  /** What went wrong, where something did: after the head was sent too. */
  readonly error?: GatewayError
  /** `none`: the request reached no endpoint of `/v1`. */
  readonly endpoint: EndpointName | 'none'
  /** Absent where the call ended before its model was known. */
  readonly model?: ModelId
  readonly stream: boolean
  readonly served?: Served
  readonly attempts: readonly AttemptRecord[]
  /** The links that had their turn, in the chain's order: those that threw or hung too, not those that `when` left out. */
  readonly links: readonly LinkRecord[]
  /** Absent where no upstream took the call: nothing is charged. */
  readonly usage?: Usage
  /** True where the upstream did not say its usage. */
  readonly usageEstimated: boolean
  /** Milliseconds: whole call; to the first byte of the reply's content; in the gateway itself, until the head. */
  readonly times: { readonly total: number; readonly firstByte?: number; readonly overhead: number }
}

/** `ctx.state` of every link, the same for streams and non-streams. */
export interface CallState {
  /** The request id, `req_…`: the reply carries it as `x-request-id`. */
  readonly id: string
  readonly endpoint: EndpointName
  /** Set by auth. */
  principal: Principal | undefined
  /** The operator's labels for this call: rate-tagging sets them, the log and the usage rows carry them. */
  readonly tags: Record<string, string>
  /** Headers for the upstream, lower case. */
  readonly upstreamHeaders: Record<string, string>
  /** Reads and checks the body when first asked for. Throws the 4xx the client gets. Rejects for `models`, which has no body. */
  call(): Promise<Call>
  /** The model that was asked for, once the body has been read. */
  readonly model?: ModelId
  readonly reply: Reply
  /** After `next()`: who served the call, if someone did. */
  readonly served: Served | undefined
  /** After `next()`: the tries so far. */
  readonly attempts: readonly AttemptRecord[]
  /** After `next()`: how the table led the call, where it came so far. */
  readonly trace: RouteTrace | undefined
  /** After `next()`: why the call failed before its head, if it did. */
  readonly failure: GatewayError | undefined
  /** Milliseconds so far: since the request arrived, and of them outside the upstream. */
  elapsed(): { readonly total: number; readonly overhead: number }
  /** Runs after the last byte of every call, refused, failed and aborted ones included; timed and caught by core. */
  onSettled(fn: (outcome: Outcome) => void | Promise<void>): void
  /** Aborted when the client leaves or the call ends. */
  readonly signal: AbortSignal
}
