import { pluginError, violationBy } from '../../plugins/faults.ts'
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

/**
 * The chunk as text, after every link that asked to see it; undefined where nothing of it is left to send. Throws `plugin_error` where
 * a link throws, or returns neither a chunk nor undefined.
 */
export function transformChunk(
  chunk: ChatChunk,
  transforms: readonly LinkTransform[],
  writer: { write(chunk: ChatChunk): string } = JSON_WRITER,
): string | undefined {
  let result = chunk
  let last: string | undefined
  try {
    for (const { link, transform } of transforms) {
      if (transform.chunk === undefined) continue
      last = link
      const returned = transform.chunk(result)
      const sent = returned === undefined ? withoutContent(result) : returned
      if (sent === undefined) return undefined
      if (!hasChoices(sent)) throw violationBy(sent, 'NOT_A_CHUNK')
      result = sent
    }
    return writer.write(result)
  } catch (thrown) {
    throw last === undefined ? thrown : pluginError(last, 'reply', thrown)
  }
}

/** The completion as JSON, after every link that asked to see it. Throws `plugin_error` where one throws, or returns no completion. */
export function transformCompletion(completion: ChatCompletion, transforms: readonly LinkTransform[]): Buffer {
  let result = completion
  let last: string | undefined
  try {
    for (const { link, transform } of transforms) {
      if (transform.completion === undefined) continue
      last = link
      const returned = transform.completion(result)
      if (!hasChoices(returned)) throw violationBy(returned, 'NOT_A_COMPLETION')
      result = returned
    }
    return Buffer.from(JSON.stringify(result))
  } catch (thrown) {
    throw last === undefined ? thrown : pluginError(last, 'reply', thrown)
  }
}

/** Whether a value of a plugin can be a completion or a chunk. */
export function hasChoices(value: unknown): boolean {
  const { choices } = (value ?? {}) as { readonly choices?: unknown }
  return Array.isArray(choices) && choices.every((choice) => typeof choice === 'object' && choice !== null)
}

/** What is left of a chunk that a link drops: where choices begin and end. SDKs fail at a stream that says neither. */
function withoutContent(chunk: ChatChunk): ChatChunk | undefined {
  const choices = chunk.choices
    .filter(({ delta, finish_reason }) => delta?.role != null || finish_reason != null)
    .map(({ index, delta, finish_reason }) => ({ index, delta: delta?.role == null ? {} : { role: delta.role }, finish_reason }))
  return choices.length === 0 ? undefined : { ...chunk, choices }
}

const JSON_WRITER = { write: (chunk: ChatChunk): string => JSON.stringify(chunk) }
