import { GatewayError, UpstreamFailure } from '../../errors.ts'
import type { EventReader, ReplyFormat, StreamedCall } from '../../protocol/format.ts'
import { EventTooLongError, frame, SseReader } from '../../protocol/sse.ts'
import { parseUpstreamObject } from '../../protocol/upstream-json.ts'
import type { UsageReport } from '../../protocol/usage-report.ts'
import { type ChatChunk, promptEstimate, type UpstreamDecoder, UpstreamError, type UpstreamEvent } from '../../sdk/api.ts'
import { type BodyReader, hasChoices, type LinkTransform, transformChunk } from './reader.ts'
import type { EventSink } from './stream-sink.ts'

/** How to read a passed-through stream. */
export interface VerbatimPlan {
  readonly format: ReplyFormat
  readonly call: StreamedCall
  readonly stream: EventSink
  readonly transforms: readonly LinkTransform[]
  /** Whether another target remains: then the stream is held until the first meaningful event. */
  readonly hold: boolean
  /** Absent: the events come as SSE. */
  readonly decoder?: UpstreamDecoder | undefined
}

/** Reads a stream in the client's protocol. Passes events for the client on byte for byte. */
export class VerbatimReader implements BodyReader {
  readonly #plan: VerbatimPlan
  readonly #stream: EventReader
  readonly #events: SseReader
  #done = false

  constructor(plan: VerbatimPlan) {
    this.#plan = plan
    this.#stream = plan.format.reader!(plan.call)
    const { typed } = plan.format
    this.#events = new SseReader(
      (data, text, type) => this.#event(data, typed && type !== '' ? `event: ${type}\n${text}` : text, type),
      { runs: { quiet: (text) => this.#quiet(text), pass: (frames, count) => this.#passRun(frames, count) } },
    )
  }

  get report(): UsageReport {
    return this.#stream.report
  }

  get unfinished(): boolean {
    return this.#stream.unfinished === true
  }

  data(bytes: Buffer): void {
    if (this.#done) return
    const { decoder } = this.#plan
    try {
      if (decoder === undefined) this.#events.push(bytes)
      else this.#decode(() => decoder.push(bytes))
    } catch (error) {
      throw error instanceof EventTooLongError ? invalid('EVENT_TOO_LONG') : error
    } finally {
      this.#plan.stream.flush()
    }
    if (this.#done) this.#finish()
  }

  end(): void {
    if (this.#done) return
    const { decoder } = this.#plan
    if (decoder !== undefined) this.#decode(() => decoder.end())
    // Some upstreams omit the end marker: the stream is complete if it has a finish, and cut otherwise.
    if (!this.#stream.finished) throw new GatewayError('upstream_disconnected', { cause: new UpstreamFailure('STREAM_CUT') })
    this.#finish()
  }

  /** An exception of a decoder means a bad reply. A line break would end an event: inside JSON it is white space. */
  #decode(read: () => Iterable<UpstreamEvent>): void {
    const { typed } = this.#plan.format
    const line = (text: string): string => latin1(text.replaceAll(/[\r\n]+/g, ' '))
    try {
      for (const event of read()) {
        const [type, data] = [line(event.type), line(event.data)]
        this.#event(data, typed && type !== '' ? `event: ${type}\n${frame(data)}` : frame(data), type)
      }
    } catch (cause) {
      const known = cause instanceof GatewayError || cause instanceof UpstreamError
      throw known ? cause : new GatewayError('upstream_invalid_response', { cause })
    }
  }

  /** A client that asked for the usage gets the estimate by which the call is charged, if the upstream has sent none. */
  #finish(): void {
    const { stream, format, call } = this.#plan
    this.report.complete()
    const data = call.includeUsage ? this.#stream.usageEvent?.(this.report.charged(promptEstimate(call)).usage) : undefined
    if (data !== undefined) this.#send(data, frame(data), true)
    stream.end(format.done ?? '')
  }

  #event(data: string, text: string, type: string): void {
    if (this.#done) return
    switch (this.#stream.read(data, type)) {
      case 'pass':
        this.#pass(data, text, type)
        return
      case 'last':
        this.#pass(data, text, type)
        this.#done = true
        return
      case 'drop':
        return
      case 'done':
        this.#done = true
        return
      case 'cut':
        throw invalid(this.#plan.stream.begun ? 'STREAM_CUT' : 'EMPTY_STREAM')
      case 'error':
        throw new UpstreamError(this.#stream.refusal!)
      case 'malformed':
        throw invalid('MALFORMED_EVENT')
    }
  }

  #quiet(text: string): number {
    const { stream, hold, transforms } = this.#plan
    const isLookedAt = this.#done || transforms.length > 0 || (hold && !stream.begun)
    return isLookedAt ? 0 : (this.#stream.quiet?.(text) ?? 0)
  }

  #passRun(frames: string, count: number): void {
    this.#stream.skipped!(frames, count)
    this.#plan.stream.push(frames, true)
  }

  #pass(data: string, text: string, type: string): void {
    const { stream, hold } = this.#plan
    this.#send(data, this.#stream.sent?.(text) ?? text, stream.begun || !hold || this.#stream.isMeaningful(data, type))
  }

  #send(data: string, text: string, meaningful: boolean): void {
    const { stream, transforms } = this.#plan
    if (transforms.length === 0) {
      stream.push(text, meaningful)
      return
    }
    for (const sent of transformChunk(parse(data), transforms)) stream.push(frame(latin1(sent)), meaningful)
  }
}

/** Parses a chunk for transforms. Adds `choices`: some upstreams omit them. */
function parse(data: string): ChatChunk {
  const chunk = parseUpstreamObject(Buffer.from(data, 'latin1'))
  const complete = chunk && { ...chunk, choices: chunk.choices ?? [] }
  if (complete === undefined || !hasChoices(complete)) throw invalid('MALFORMED_EVENT')
  return complete as ChatChunk
}

const invalid = (code: UpstreamFailure['code']): GatewayError =>
  new GatewayError('upstream_invalid_response', { cause: new UpstreamFailure(code) })

/** The sink of a passed-through stream writes latin1. */
const latin1 = (text: string): string => Buffer.from(text).toString('latin1')
