import {
  V2ChatRequest,
  V2ChatStreamRequest,
  type V2ChatStreamResponse,
} from '../../../../node_modules/cohere-ai/serialization/index.js'
import type { ChatBody } from '../../../../plugins/providers/cohere/wire.ts'

/** Lists of a request, which the SDK types as ones that may be written to. */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Writable<T[Key]> }
    : T

/** Compiles as long as every request of this provider is one that the SDK's own types describe. */
export const taken = (request: Writable<Omit<ChatBody, 'stream'>>): V2ChatRequest.Raw & V2ChatStreamRequest.Raw => request

/** An event as the SDK's own types describe it. */
export type StreamResponse = V2ChatStreamResponse.Raw

/** Throws where the SDK does not know a field of a request, misses one, or finds another type in it. */
export function expectTaken({ stream, ...request }: ChatBody): void {
  const schema = stream ? V2ChatStreamRequest : V2ChatRequest
  schema.parseOrThrow(request, { unrecognizedObjectKeys: 'fail' })
}
