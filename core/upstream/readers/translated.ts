import { isAscii } from 'node:buffer'
import type { ErrorName } from '../../error-table.ts'
import { GatewayError, UpstreamFailure } from '../../errors.ts'
import type { ReplyWriter } from '../../protocol/client-protocol.ts'
import { StreamNormaliser } from '../../protocol/normalise.ts'
import { frame, SseReader } from '../../protocol/sse.ts'
import { expectWithinBounds, parseUpstream } from '../../protocol/upstream-json.ts'
import { isWhole } from '../../protocol/usage.ts'
import type { UsageReport } from '../../protocol/usage-report.ts'
import {
  type Call,
  type ChatChunk,
  type ChunkChoice,
  promptEstimate,
  type TranslatedChunk,
  type Translator,
  type UpstreamDecoder,
  UpstreamError,
  type UpstreamEvent,
} from '../../sdk/api.ts'
import { type BodyReader, CallStateReader, type LinkTransform, type StateKeeper, transformChunk } from './reader.ts'
import type { EventSink } from './stream-sink.ts'

/** How to read a translated stream. */
export interface TranslatedPlan {
  readonly translator: Translator
  readonly call: Pick<Call, 'includeUsage' | 'choices' | 'size'> & { readonly model: string }
  readonly stream: EventSink
  readonly transforms: readonly LinkTransform[]
  readonly hold: boolean
  readonly writer: ReplyWriter
  /** Absent: the client keeps the states of tool calls, or there are none. */
  readonly states?: StateKeeper | undefined
}

/** Reads a stream in an upstream's own protocol: decoder → translator → normaliser → transforms → stream. */
export class TranslatedReader implements BodyReader {
  readonly #plan: TranslatedPlan
  readonly #decoder: UpstreamDecoder
  readonly #normaliser: StreamNormaliser
  #states: CallStateReader | undefined

  constructor(plan: TranslatedPlan) {
    this.#plan = plan
    this.#decoder = plan.translator.decoder?.() ?? new SseDecoder()
    this.#normaliser = new StreamNormaliser(plan.call)
  }

  get report(): UsageReport {
    return this.#normaliser.report
  }

  get cut(): boolean {
    return this.#plan.translator.cut === true
  }

  data(bytes: Buffer): void {
    this.#guarded('upstream_invalid_response', () => this.#translate(this.#decoder.push(bytes)))
    if (this.#plan.translator.over) this.#finish()
  }

  end(): void {
    this.#guarded('upstream_disconnected', () => this.#translate(this.#decoder.end()))
    this.#finish()
  }

  #finish(): void {
    const { translator, stream, writer, states } = this.#plan
    // If the translator rejects the end, the stream was cut.
    this.#guarded('upstream_disconnected', () => {
      for (const part of translator.end?.() ?? []) this.#send(this.#normaliser.push(part))
      const last = this.#normaliser.end()
      if (last === undefined) throw new GatewayError('upstream_disconnected', { cause: new UpstreamFailure('STREAM_CUT') })
      // Before the client can answer.
      if (states !== undefined) this.#states?.keep(states)
      this.#send(last)
      this.report.complete()
      if (!isWhole(this.report.usage)) this.#sendEstimate()
    })
    stream.end(writer.end())
  }

  /** A client that asked for the usage gets the estimate by which the call is charged. */
  #sendEstimate(): void {
    this.#send(this.#normaliser.usageChunk(this.report.charged(promptEstimate(this.#plan.call)).usage))
  }

  #translate(events: Iterable<UpstreamEvent>): void {
    for (const event of events) {
      expectWithinBounds(event.data)
      try {
        for (const part of this.#plan.translator.event(event)) this.#send(this.#normaliser.push(part as TranslatedChunk))
      } catch (error) {
        this.report.read(this.#plan.translator.usage?.(parseUpstream(event.data)))
        throw error
      }
    }
  }

  #send(chunks: Iterable<ChatChunk>): void {
    const { stream, transforms, hold, writer, states } = this.#plan
    for (const chunk of chunks) {
      if (states !== undefined) this.#readStates(chunk)
      const meaningful = stream.begun || !hold || isMeaningful(chunk)
      const texts = transforms.length === 0 ? [writer.write(chunk)] : transformChunk(chunk, transforms, writer)
      for (const sent of texts) if (sent !== '') stream.push(sent, meaningful)
    }
  }

  #readStates({ choices }: ChatChunk): void {
    for (const { index, delta } of choices) {
      if (!Array.isArray(delta.tool_calls)) continue
      this.#states ??= new CallStateReader()
      this.#states.read(index, delta.tool_calls)
    }
  }

  /** An exception of a translator means a bad reply: it only reads the upstream's data. `row`: the row of other exceptions. */
  #guarded(row: ErrorName, work: () => void): void {
    try {
      work()
    } catch (cause) {
      throw cause instanceof GatewayError || cause instanceof UpstreamError ? cause : new GatewayError(row, { cause })
    } finally {
      this.#plan.stream.flush()
    }
  }
}

/** Whether a chunk contains more than the role. */
function isMeaningful(chunk: ChatChunk): boolean {
  return chunk.choices.some(
    (choice) =>
      choice.finish_reason !== null || Object.entries(choice.delta).some(([key, value]) => key !== 'role' && value !== ''),
  )
}

/** Decodes SSE for translators: UTF-8 text with its type. */
class SseDecoder implements UpstreamDecoder {
  /** Whether all bytes so far were ASCII: then UTF-8 decoding is skipped. */
  #ascii = true
  #events: UpstreamEvent[] = []
  /** Text between the events. */
  #stray = ''
  readonly #reader = new SseReader(
    (data, _, type) => {
      // Events without data are keep-alives.
      if (data.trim() !== '') this.#events.push({ type: this.#text(type), data: this.#text(data) })
    },
    {
      onStray: (line) => {
        if (this.#stray.length + line.length < MAX_STRAY) this.#stray += `${line}\n`
      },
    },
  )

  push(bytes: Buffer): Iterable<UpstreamEvent> {
    this.#events = []
    this.#ascii &&= isAscii(bytes)
    this.#reader.push(bytes)
    return this.#events
  }

  /** Google and others end a failed stream with a bare JSON error: the translator receives it as an event. */
  end(): Iterable<UpstreamEvent> {
    this.#reader.end()
    return isJson(this.#stray) ? [{ type: '', data: this.#text(this.#stray) }] : []
  }

  #text(latin1: string): string {
    return this.#ascii ? latin1 : utf8(latin1)
  }
}

/** Size limit of a bare error, in bytes. */
const MAX_STRAY = 64 << 10

const isJson = (text: string): boolean => JSON_START.test(text) && parseUpstream(text) !== undefined

const JSON_START = /^\s*[{[]/

/** Most events of a text with non-ASCII parts are ASCII: the test costs a fraction of a copy. */
const utf8 = (latin1: string): string => (ASCII.test(latin1) ? latin1 : Buffer.from(latin1, 'latin1').toString('utf8'))

const ASCII = /^[\0-\x7f]*$/

/**
 * Writes the chunks of one stream as events, with the JSON that `JSON.stringify` would make. Serialises the members that nearly all chunks share only once
 * (docs/decisions/hot-path.md).
 */
export class ChunkWriter implements ReplyWriter {
  #first: ChatChunk | undefined
  #head = ''

  write(chunk: ChatChunk): string {
    this.#first ??= this.#begin(chunk)
    if (!isLike(chunk, this.#first)) return frame(JSON.stringify(chunk))
    return frame(`${this.#head}${choicesText(chunk.choices)}${chunk.usage === null ? ',"usage":null}' : '}'}`)
  }

  end(): string {
    return 'data: [DONE]\n\n'
  }

  #begin(chunk: ChatChunk): ChatChunk {
    const { id, object, created, model } = chunk
    this.#head = `${JSON.stringify({ id, object, created, model }).slice(0, -1)},"choices":`
    return chunk
  }
}

/** Whether two chunks differ only in their choices, and have only OpenAI's members. */
function isLike(chunk: ChatChunk, other: ChatChunk): boolean {
  const { id, object, created, model, choices, usage } = chunk
  if (id !== other.id || created !== other.created || model !== other.model || object !== other.object) return false
  return Array.isArray(choices) && usage == null && size(chunk) === (usage === null ? 6 : 5)
}

/** Nearly every chunk is a piece of text: then only the text needs `JSON.stringify`. */
function choicesText(choices: readonly ChunkChoice[]): string {
  const [choice] = choices
  if (choices.length !== 1 || !isText(choice!)) return JSON.stringify(choices)
  return `[{"index":${choice!.index},"delta":{"content":${JSON.stringify(choice!.delta.content)}},"finish_reason":null}]`
}

function isText(choice: ChunkChoice): boolean {
  const { index, delta, finish_reason } = choice
  return (
    typeof delta?.content === 'string' &&
    finish_reason === null &&
    typeof index === 'number' &&
    size(choice) === 3 &&
    size(delta) === 1
  )
}

function size(object: object): number {
  let members = 0
  for (const _ in object) members++
  return members
}
