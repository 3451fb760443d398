import type { Call, EndpointName, UpstreamRefusal, Usage } from '../sdk/api.ts'
import type { ClientProtocol, ClientWire } from './client-protocol.ts'
import type { KeptCall } from './kept-ids.ts'
import type { ScannedReply } from './upstream-json.ts'
import type { MadeTokens } from './usage.ts'
import type { UsageReport } from './usage-report.ts'
import type { RequestCheck } from './validation.ts'
import type { ServedVariants } from './variants.ts'

/** Kind of one event of a passed-through stream. */
export type EventKind =
  /** Sent to the client. */
  | 'pass'
  /** Sent to the client as the last event. */
  | 'last'
  /** Not sent to this client: an empty event, or a usage chunk not requested. */
  | 'drop'
  /** The upstream's end marker. */
  | 'done'
  /** The same, although nothing before it says why the answer ends. */
  | 'cut'
  /** The upstream's error; `refusal` holds it. */
  | 'error'
  /** Not an event of this protocol. */
  | 'malformed'

/** Reads the events of one stream in the endpoint's wire format. */
export interface EventReader {
  /** Classifies one event. `data`: raw bytes as latin1, parsed only if a byte scan finds a relevant key. `type`: SSE's, or ''. */
  read(data: string, type: string): EventKind
  /** Length of the prefix of a stream's text that `read` does not need to see. Absent: every event is read. */
  quiet?(text: string): number
  /** Receives a run of quiet events, which were not read. */
  skipped?(frames: string, count: number): void
  /** True if an event carries content for the client: after it, no retry is possible. */
  isMeaningful(data: string, type: string): boolean
  /** True once every choice has a finish reason. */
  readonly finished: boolean
  /** True if the last event says that the upstream has yet to answer. */
  readonly unfinished?: boolean
  readonly report: UsageReport
  readonly refusal: UpstreamRefusal | undefined
  /** The frame of the event that was read last, as the client gets it. Absent: unchanged. */
  sent?(frame: string): string
  /** The data of an event with a usage; undefined if the upstream has sent one. Absent: the protocol has no such event. */
  usageEvent?(usage: Usage): string | undefined
}

/** What a reader of events knows of their call. */
export interface StreamedCall extends Pick<Call, 'choices' | 'includeUsage' | 'size'> {
  member?(key: string): unknown
}

/** What the reply to a call is: a JSON object, a stream of events, or bytes that are passed on as they come: sound, or plain text. */
export type ReplyKind = 'whole' | 'events' | 'bytes'

/** The most bytes of a whole reply that is text, maybe with a picture or a recording in it. */
export const TEXT_BYTES = 16 << 20
/** The most bytes of a whole reply that is vectors, pictures or sound. */
export const MEDIA_BYTES = 64 << 20

/** The usage or error of a whole reply. */
export interface WholeReply {
  /** In the terms of chat completions; of any value. */
  readonly usage?: unknown
  /** The error in a reply with status 200. */
  readonly refusal?: UpstreamRefusal
  /** The body for the client. Absent: the upstream's own bytes. */
  readonly body?: Buffer
  /** True if the upstream has yet to answer: what it will have used is not known. */
  readonly unfinished?: boolean
  /** The services at another price that the reply names. */
  readonly served?: ServedVariants | undefined
}

/** Wire format of one endpoint's replies: all that the relay knows of the endpoint. */
export interface ReplyFormat {
  readonly endpoint: EndpointName
  /** Absent if the endpoint never streams. */
  reader?(call: StreamedCall): EventReader
  /** Absent: a stream of events if the client asked for a stream, else whole. */
  kind?(call: Call): ReplyKind
  /** The content types of replies that are bytes. Others are read as JSON, which may be an error. */
  readonly bytes?: RegExp
  /** The most bytes of a whole reply, decoded. Absent: `TEXT_BYTES`. */
  readonly maxBytes?: number
  /** A short part of a long reply that has the same members, apart from the content. Absent: the reply itself is scanned. */
  outline?(bytes: Buffer): Buffer | undefined
  /** Undefined if it is not a reply of this endpoint. */
  whole(reply: ScannedReply): WholeReply | undefined
  /** Whether a passed-through reply has another form than the call asks for: then it is normalised. Absent: there is one form. */
  hasOtherForm?(reply: Buffer, call: Call): boolean
  /** The same, for an upstream that keeps the reply to this call, so that later calls refer to it by its ids. Absent: none is kept. */
  keptBy?(kept: KeptCall, call: Call): ReplyFormat
  /** True if clients also read an event's type. */
  readonly typed?: true
  /** The frame that ends a complete stream; '' if its last event does. */
  readonly done?: string
  /** The usage that a whole reply reports, in the terms of chat completions: any value. */
  usage(reply: object): unknown
  /** Converts a provider's whole reply to OpenAI's. */
  normalise(translated: object, call: Call): object
  /** True if replies consist of tokens: then a reply without usage is charged by its length. */
  readonly generates: boolean
  /** What replies consist of whose tokens their length does not tell. Absent: they have none. */
  readonly makes?: MadeTokens
  /** What each call uses, whatever its reply says. Absent: what its reply reports, or an estimate. */
  readonly uses?: Usage
}

/** An endpoint under `/v1` that a model answers. */
export interface ModelEndpoint {
  readonly name: EndpointName
  readonly path: string
  /** Checks the body. */
  readonly check: RequestCheck
  /** Whether bodies are forms, or may be, instead of JSON. Absent: they are never. */
  readonly form?: 'always' | 'maybe'
  /** Wire format of the replies of upstreams that serve the endpoint. */
  readonly reply: ReplyFormat
  /** How the other upstreams serve it, by chat completions. Absent: they do not. */
  readonly protocol?: ClientProtocol
  /** Absent: OpenAI's. */
  readonly wire?: ClientWire
  /** True if the gateway keeps replies, where the operator says so. */
  readonly keepsReplies?: true
}
