import type { Generation } from '../generation.ts'
import type { ChatChunk, ChatCompletion, EndpointName } from '../plugin/api.ts'
import type { ClientCall } from './client-call.ts'

/** Where a request has arrived. */
export interface Arrival {
  readonly name: EndpointName
  /** The generation that serves it. */
  readonly generation: Generation
  /** False where the endpoint's requests have none. */
  readonly hasBody: boolean
  /** Reads the request's body. */
  read(): Promise<ClientCall>
}

/** What a link answered with, instead of the upstream. */
export interface OwnReply {
  readonly link: string
  readonly reply: ChatCompletion | Iterable<ChatChunk> | AsyncIterable<ChatChunk>
}
