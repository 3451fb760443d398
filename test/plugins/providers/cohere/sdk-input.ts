import {
  V2ChatRequest,
  V2ChatStreamRequest,
  type V2ChatStreamResponse,
} from '../../../../node_modules/cohere-ai/serialization/index.js'
import type { ChatBody } from '../../../../plugins/providers/cohere/wire.ts'

/** The lists of a request, which are mutable in the SDK's types. */
type Writable<T> = T extends readonly (infer Item)[]
  ? Writable<Item>[]
  : T extends object
    ? { -readonly [Key in keyof T]: Writable<T[Key]> }
    : T

/** Compiles if every request of this provider has the SDK's types. */
export const taken = (request: Writable<Omit<ChatBody, 'stream'>>): V2ChatRequest.Raw & V2ChatStreamRequest.Raw => request

/** An event of the SDK's types. */
export type StreamResponse = V2ChatStreamResponse.Raw

/** Throws if a request has an unknown member, lacks a member or has another type than in the SDK. */
export function expectTaken({ stream, ...request }: ChatBody): void {
  const schema = stream ? V2ChatStreamRequest : V2ChatRequest
  schema.parseOrThrow(request, { unrecognizedObjectKeys: 'fail' })
}
