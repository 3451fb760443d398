import { pluginError, violationBy } from '../../plugins/faults.ts'
import type { UsageReport } from '../../protocol/usage-report.ts'
import type { CallStates, ChatChunk, ChatCompletion, ReplyTransform, ToolCallDelta } from '../../sdk/api.ts'

/** Reads the body of one reply. For a bad reply, throws a GatewayError, or an UpstreamError with the reply's own refusal. */
export interface BodyReader {
  data(bytes: Buffer): void
  /** The body ended as HTTP permits. A promise, if a thread reads it: then `data` and `end` are not called again. */
  end(): void | Promise<void>
  /** What is known of its tokens. */
  readonly report: UsageReport
  /** True if the reply ended before the upstream has. */
  readonly cut?: boolean
  /** True if the upstream has yet to answer: no count of the reply says what it will have used. */
  readonly unfinished?: boolean
}

/** A chain plugin's name and its transform of the reply. */
export interface LinkTransform {
  readonly link: string
  readonly transform: ReplyTransform
}

/** Keeps the `extra_content` of tool calls, for clients that do not. */
export interface StateKeeper {
  keep(states: CallStates): void
}

/** Collects the `extra_content` of the tool calls in a reply. */
export class CallStateReader {
  readonly #calls = new Map<string, { id?: string; state?: Readonly<Record<string, unknown>> }>()

  /** Reads the tool calls of a choice, or parts of them with their indexes. */
  read(choice: number, calls: readonly Partial<ToolCallDelta>[]): void {
    for (const [place, { index = place, id, extra_content: state }] of calls.entries()) {
      const name = `${choice} ${index}`
      const known = this.#calls.get(name) ?? {}
      this.#calls.set(name, known)
      if (id) known.id ??= id
      if (state != null) known.state = { ...known.state, ...state }
    }
  }

  /** Lets them be kept, if there are any. */
  keep(keeper: StateKeeper): void {
    const states = new Map<string, Readonly<Record<string, unknown>>>()
    for (const { id, state } of this.#calls.values()) if (id !== undefined && state !== undefined) states.set(id, state)
    if (states.size > 0) keeper.keep(states)
  }
}

/**
 * The chunk as texts, after every link with a chunk transform; none if nothing is left to send. Throws `plugin_error` if a link
 * throws, or returns neither chunks nor undefined.
 */
export function transformChunk(
  chunk: ChatChunk,
  transforms: readonly LinkTransform[],
  writer: { write(chunk: ChatChunk): string } = JSON_WRITER,
): readonly string[] {
  let results: readonly ChatChunk[] = [chunk]
  let last: string | undefined
  try {
    for (const { link, transform } of transforms) {
      if (transform.chunk === undefined) continue
      last = link
      results = results.flatMap((each) => chunksOf(transform.chunk!(each), each))
    }
    return results.map((each) => writer.write(each))
  } catch (thrown) {
    throw last === undefined ? thrown : pluginError(last, 'reply', thrown)
  }
}

/** What a transform returned for a chunk. */
function chunksOf(returned: ReturnType<NonNullable<ReplyTransform['chunk']>>, chunk: ChatChunk): readonly ChatChunk[] {
  const sent = Array.isArray(returned) ? returned : [returned === undefined ? withoutContent(chunk) : (returned as ChatChunk)]
  // Undefined: nothing is left of a chunk that was dropped.
  const chunks = sent.filter((each) => each !== undefined)
  for (const each of chunks) if (!hasChoices(each)) throw violationBy(each, 'NOT_A_CHUNK')
  return chunks
}

/**
 * The completion as JSON, after every link with a completion transform. Throws `plugin_error` if one throws or returns none. `encode`: to
 * the client's protocol.
 */
export function transformCompletion(
  completion: ChatCompletion,
  transforms: readonly LinkTransform[],
  encode: (completion: ChatCompletion) => object = (sent) => sent,
): Buffer {
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
    return Buffer.from(JSON.stringify(encode(result)))
  } catch (thrown) {
    throw last === undefined ? thrown : pluginError(last, 'reply', thrown)
  }
}

/** Whether a plugin's value can be a completion or a chunk. */
export function hasChoices(value: unknown): boolean {
  const { choices } = (value ?? {}) as { readonly choices?: unknown }
  return Array.isArray(choices) && choices.every((choice) => typeof choice === 'object' && choice !== null)
}

/** The rest of a chunk that a link drops: roles and finishes of choices. SDKs fail on a stream without them. */
function withoutContent(chunk: ChatChunk): ChatChunk | undefined {
  const choices = chunk.choices
    .filter(({ delta, finish_reason }) => delta?.role != null || finish_reason != null)
    .map(({ index, delta, finish_reason }) => ({ index, delta: delta?.role == null ? {} : { role: delta.role }, finish_reason }))
  return choices.length === 0 ? undefined : { ...chunk, choices }
}

const JSON_WRITER = { write: (chunk: ChatChunk): string => JSON.stringify(chunk) }
