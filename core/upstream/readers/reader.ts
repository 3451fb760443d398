import { pluginError } from '../../plugins/faults.ts'
import type { ChatChunk, ChatCompletion, ReplyTransform, Usage } from '../../sdk/api.ts'

/** Reads the body of one reply. Throws where the reply is at fault: a GatewayError, or an UpstreamError with what it says of itself. */
export interface BodyReader {
  data(bytes: Buffer): void
  /** The body ended as HTTP says it may. */
  end(): void
  /** What the upstream said it used. */
  readonly usage: Usage | undefined
  /** What a reply is taken to have used if its upstream never says: an event is about a token, and a token about four bytes. */
  readonly estimatedTokens: number
}

/** What a chain plugin does to the reply, and which one it is. */
export interface LinkTransform {
  readonly link: string
  readonly transform: ReplyTransform
}

/** The chunk after every link that asked to see it; undefined where one dropped it. */
export function transformChunk(chunk: ChatChunk, transforms: readonly LinkTransform[]): ChatChunk | undefined {
  let result: ChatChunk | undefined = chunk
  for (const { link, transform } of transforms) {
    if (transform.chunk === undefined || result === undefined) continue
    try {
      result = transform.chunk(result)
    } catch (thrown) {
      throw pluginError(link, 'reply', thrown)
    }
  }
  return result
}

/** The completion after every link that asked to see it, as JSON. */
export function transformCompletion(completion: ChatCompletion, transforms: readonly LinkTransform[]): Buffer {
  let result = completion
  for (const { link, transform } of transforms) {
    try {
      result = transform.completion?.(result) ?? result
    } catch (thrown) {
      throw pluginError(link, 'reply', thrown)
    }
  }
  return Buffer.from(JSON.stringify(result))
}
