import type { Call, EndpointName, UpstreamRefusal, Usage } from '../sdk/api.ts'
import type { RequestCheck } from './validation.ts'

/** What one event of a passed-through stream is. */
export type EventKind =
  /** For the client. */
  | 'pass'
  /** For the client, and the stream's last. */
  | 'last'
  /** Not for this client: an empty event, a usage chunk that was not asked for. */
  | 'drop'
  /** The upstream's end marker. */
  | 'done'
  /** The upstream's error: `refusal` says which. */
  | 'error'
  /** Not an event of this protocol. */
  | 'malformed'

/** Watches the events of one stream, in the endpoint's wire format. */
export interface EventReader {
  /** Looks at one event's data: raw bytes as latin1, parsed only where a byte scan finds something to learn. `type`: SSE's, or ''. */
  read(data: string, type: string): EventKind
  /** How much of the text of a stream, from its start, has nothing that `read` would learn of. Absent: every event is read. */
  quiet?(text: string): number
  /** Whether an event carries what a client would see: from it on there is no way back. */
  isMeaningful(data: string, type: string): boolean
  /** True once every choice has said why it ended. */
  readonly finished: boolean
  readonly usage: Usage | undefined
  readonly refusal: UpstreamRefusal | undefined
}

/** What a whole reply says of itself. */
export interface WholeReply {
  readonly usage?: Usage
  /** The error that a reply with status 200 carries. */
  readonly refusal?: UpstreamRefusal
}

/** How the replies of one endpoint look on the wire: all that the relay knows of it. */
export interface ReplyFormat {
  readonly endpoint: EndpointName
  /** Absent: its replies are never streamed. */
  reader?(call: { readonly choices: number; readonly includeUsage: boolean }): EventReader
  /** Undefined where the bytes are not a reply of this endpoint. */
  whole(bytes: Buffer): WholeReply | undefined
  /** Whether clients look at an event's type too. */
  readonly typed?: true
  /** The frame that ends a stream well; '' where its last event does. */
  readonly done?: string
  /** What a whole reply says it used. */
  usage(reply: object): Usage | undefined
  /** OpenAI's whole reply out of a provider's. */
  normalise(translated: object, call: Call): object
  /** Whether replies are made of tokens: then one that does not say its usage is charged by its length. */
  readonly generates: boolean
}

/** An endpoint of `/v1` that a model answers: all that tells it from others. */
export interface ModelEndpoint {
  readonly name: EndpointName
  readonly path: string
  /** Checks the body. */
  readonly check: RequestCheck
  /** How its replies look on the wire. */
  readonly reply: ReplyFormat
}
