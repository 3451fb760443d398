import {
  chunk,
  isRecord,
  KeptText,
  type ToolCallDelta,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  textOf,
  UpstreamError,
  type UpstreamEvent,
  type Usage,
} from 'unified-model-gateway/plugin'
import { toReasoningItem, toReasoningState } from './reasoning.ts'
import {
  callIdOf,
  expectResponse,
  expectText,
  failureOf,
  finishOf,
  inputOf,
  isText,
  itemsOf,
  listOf,
  stoppedBy,
  toAnnotation,
  toCompletion,
  tokensWithin,
  toLogprob,
  toUsage,
} from './reply.ts'
import { StopSearch } from './stop.ts'
import type { Members, ReasoningItem } from './wire.ts'

/** The usage of a response, or of the one in an event, that could not be translated. */
function usageOf(body: unknown): Partial<Usage> | undefined {
  const response = isRecord(body) && isRecord(body.response) ? body.response : body
  return isRecord(response) ? toUsage(response.usage) : undefined
}

/** Nearly every event is a piece of text. One without escapes is cut out, not parsed (docs/decisions/hot-path.md). */
const TEXT_DELTA =
  /^\{"type":"response\.output_text\.delta",(?:"sequence_number":\d+,)?"item_id":"[^"\\]*","output_index":(\d+),"content_index":\d+,"delta":"([^"\\]+)"(?:,"logprobs":\[\])?(?:,"sequence_number":\d+)?(?:,"obfuscation":"[^"\\]*")?\}$/

/** Events that say nothing, or all of a part once more, which the end of its item says too: they are not parsed. */
const REPEATING = /^\{"type":"response\.(?:in_progress|queued|content_part\.(?:added|done)|output_text\.done)"/

const NOTHING: readonly TranslatedChunk[] = []

/** An item that has begun. */
interface OpenItem {
  readonly type: unknown
  readonly id: unknown
  /** The number of a tool call. */
  readonly call: number
  /** What the client has of its text, to be compared with the whole of it. */
  sent: string
}

/**
 * Translates the reply to `POST /responses`, whole or streamed. The order of events is per item `output_item.added`, its deltas and `output_item.done`, and at the end one of
 * `completed`, `incomplete` and `failed` (openai-node 7.57, `ResponseStreamEvent`). The event that ends an item repeats all of it: what the deltas
 * did not say, because they are of a kind that is not known, is sent then.
 */
export class ResponseTranslator implements Translator {
  /** Whether a stop sequence has ended the answer, while the model goes on. */
  cut = false
  readonly #model: string
  readonly #items = new Map<unknown, OpenItem>()
  readonly #kept = new KeptText()
  /** The reasoning since the last tool call. */
  #reasoning: ReasoningItem[] = []
  /** The places of the items that have ended. */
  readonly #ended = new Set<unknown>()
  #calls = 0
  #hasText = false
  #over = false
  readonly #search: StopSearch
  readonly #stop: readonly string[]
  #stoppedBy: string | undefined
  /** Tokens of the text that is held back, since it may begin a stop sequence. */
  #logprobs: Members[] = []
  /** Bytes that the model has written so far, reasoning included. */
  #written = 0

  /** `model`: as the upstream was asked. `stop`: the sequences that end its text. */
  constructor(model: string, stop: readonly string[] = []) {
    this.#model = model
    this.#search = new StopSearch(stop)
    this.#stop = stop
  }

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body, this.#model, this.#stop)
  }

  usage(body: unknown): unknown {
    return usageOf(body)
  }

  get #hasStop(): boolean {
    return this.#stop.length > 0
  }

  /** Whether the last event has arrived. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for an error, `Error` for an event that is not of the Responses API. */
  event({ data }: UpstreamEvent): Iterable<TranslatedChunk> {
    if (this.#over) return NOTHING
    const piece = this.#hasStop ? null : TEXT_DELTA.exec(data)
    if (piece !== null) return [chunk.content(this.#heard({ output_index: Number(piece[1]), delta: piece[2] }))]
    return REPEATING.test(data) ? NOTHING : this.#read(data)
  }

  *#read(data: string): Iterable<TranslatedChunk> {
    if (data.trim() === '' || data === '[DONE]') return
    const event: unknown = JSON.parse(data)
    if (!isRecord(event)) throw new Error('not an event of the Responses API')
    switch (event.type) {
      case 'response.created': {
        const { id } = expectResponse(event.response)
        if (typeof id === 'string') yield { id, choices: [] }
        break
      }
      case 'response.output_item.added':
        yield* this.#begin(event.output_index, expectItem(event.item))
        break
      case 'response.output_item.done':
        yield* this.#end(event.output_index, expectItem(event.item))
        break
      case 'response.output_text.delta':
        yield* this.#speak(event)
        break
      case 'response.refusal.delta':
        yield* this.#say(event, chunk.refusal)
        break
      case 'response.output_text.annotation.added':
        yield* annotated(listOf([event.annotation]))
        break
      case 'response.reasoning_text.delta':
      case 'response.reasoning_summary_text.delta':
        yield* this.#say(event, chunk.reasoning)
        break
      case 'response.reasoning_summary_part.added':
        if (event.summary_index !== 0) yield chunk.reasoning('\n\n')
        break
      case 'response.function_call_arguments.delta':
      case 'response.custom_tool_call_input.delta':
        yield* this.#continueCall(this.#itemOf(event), expectText(event.delta, 'a delta'))
        break
      case 'response.completed':
      case 'response.incomplete':
        yield* this.#finish(expectResponse(event.response))
        break
      case 'response.failed':
        throw new UpstreamError(failureOf(isRecord(event.response) ? event.response : {}))
      case 'error':
        throw new UpstreamError(failureOf(event))
      default:
        expectText(event.type, 'a type of an event')
    }
    if (this.#stoppedBy !== undefined && !this.#over) yield* this.#cut(this.#stoppedBy)
  }

  /** Throws if the last event has not arrived. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before response.completed.')
    return []
  }

  #itemOf({ output_index: index }: Members): OpenItem {
    const item = this.#items.get(index)
    if (item === undefined) throw new Error('a part of an item that has not begun')
    return item
  }

  *#begin(index: unknown, item: Members): Iterable<TranslatedChunk> {
    if (!Number.isSafeInteger(index)) throw new Error('an item without a place')
    if (this.#items.has(index)) throw new Error('an item that begins twice')
    this.#items.set(index, { type: item.type, id: item.id, call: this.#calls, sent: '' })
    if (!isCall(item)) return
    const state = toReasoningState(this.#model, this.#reasoning)
    this.#reasoning = []
    const name = expectText(item.name, 'a name of a tool')
    const head = { index: this.#calls++, id: callIdOf(item), ...state }
    yield item.type === 'function_call'
      ? chunk.toolCall({ ...head, name })
      : callPart({ ...head, type: 'custom', custom: { name, input: '' } })
  }

  *#say(event: Members, toChunk: (text: string) => TranslatedChunk): Iterable<TranslatedChunk> {
    yield* chunk.fromText(toChunk, this.#heard(event))
  }

  *#speak(event: Members): Iterable<TranslatedChunk> {
    yield* this.#utter(this.#heard(event), listOf(event.logprobs).map(toLogprob))
  }

  /** The text of a delta. */
  #heard(event: Members): string {
    const item = this.#itemOf(event)
    const text = expectText(event.delta, 'a delta')
    item.sent += this.#kept.add(text)
    this.#hasText ||= item.type === 'message'
    return text
  }

  /** A piece of the answer's text, as far as it cannot begin a stop sequence. */
  *#utter(piece: string, logprobs: readonly Members[] = []): Iterable<TranslatedChunk> {
    if (!this.#hasStop) {
      yield* contentChunk(piece, logprobs)
      return
    }
    this.#written += Buffer.byteLength(piece)
    const { text, stoppedBy: sequence } = this.#search.read(piece)
    this.#stoppedBy = sequence
    this.#logprobs.push(...logprobs)
    yield* contentChunk(text, this.#logprobs.splice(0, tokensWithin(this.#logprobs, text.length)))
  }

  /** The answer is over, and the call with it: what the model has written so far is estimated as any text is, four bytes a token. */
  *#cut(sequence: string): Iterable<TranslatedChunk> {
    this.#over = true
    this.cut = true
    yield chunk.usage({ completion_tokens: Math.ceil(this.#written / 4) })
    yield { choices: [{ index: 0, ...stoppedBy(sequence) }] }
  }

  *#continueCall(item: OpenItem, text: string): Iterable<TranslatedChunk> {
    item.sent += this.#kept.add(text)
    if (text === '') return
    yield item.type === 'custom_tool_call'
      ? callPart({ index: item.call, custom: { input: text } })
      : chunk.toolArguments(item.call, text)
  }

  *#end(index: unknown, item: Members): Iterable<TranslatedChunk> {
    if (this.#ended.has(index) || this.#stoppedBy !== undefined) return
    if (!this.#items.has(index)) yield* this.#begin(index, item)
    this.#ended.add(index)
    const open = this.#items.get(index)!
    if (item.type !== open.type) throw new Error('an item that ends as another')
    if (item.type === 'message') {
      yield* this.#rest(open, listOf(item.content))
      if (this.#hasStop && this.#stoppedBy === undefined) yield* contentChunk(this.#search.end(), this.#logprobs.splice(0))
    }
    if (isCall(item)) yield* this.#continueCall(open, restOf(open, inputOf(item)))
    if (item.type !== 'reasoning') return
    for (const reasoning of toReasoningItem(item)) {
      const text = this.#kept.add(JSON.stringify(reasoning))
      this.#written += text.length
      this.#reasoning.push(reasoning)
    }
  }

  /** The parts of a message that its deltas did not say. */
  *#rest(open: OpenItem, parts: readonly Members[]): Iterable<TranslatedChunk> {
    const said = parts.map((part) => (part.type === 'refusal' ? textOf(part.refusal) : textOf(part.text)))
    this.#hasText ||= parts.some(isText)
    const rest = restOf(open, said.join(''))
    if (rest === '') return
    open.sent += rest
    if (parts.at(-1)!.type === 'refusal') yield chunk.refusal(rest)
    else yield* this.#utter(rest)
  }

  *#finish(response: Members): Iterable<TranslatedChunk> {
    const items = itemsOf(response)
    for (const [index, item] of items.entries()) yield* this.#end(index, item)
    this.#over = true
    const finish = finishOf(response, this.#calls > 0)
    if (finish === 'stop' && !this.#hasText) throw new Error('a response without an answer')
    yield* counted(response)
    yield this.#stoppedBy === undefined ? chunk.finish(finish) : { choices: [{ index: 0, ...stoppedBy(this.#stoppedBy) }] }
  }
}

function expectItem(item: unknown): Members {
  if (!isRecord(item)) throw new Error('not an item of a response')
  expectText(item.type, 'a type of an item')
  return item
}

const isCall = ({ type }: Members): boolean => type === 'function_call' || type === 'custom_tool_call'

/** What the client lacks of an item. Throws an Error if the deltas have said what the item does not. */
function restOf({ sent }: OpenItem, whole: string): string {
  if (!whole.startsWith(sent)) throw new Error('an item that is not what its parts have said')
  return whole.slice(sent.length)
}

function* contentChunk(text: string, logprobs: readonly Members[]): Iterable<TranslatedChunk> {
  if (logprobs.length === 0) yield* chunk.fromText(chunk.content, text)
  else yield { choices: [{ index: 0, delta: { content: text }, logprobs: { content: logprobs, refusal: null } }] }
}

const callPart = (part: ToolCallDelta): TranslatedChunk => ({ choices: [{ index: 0, delta: { tool_calls: [part] } }] })

function* annotated(annotations: readonly Members[]): Iterable<TranslatedChunk> {
  const read = annotations.flatMap(toAnnotation)
  if (read.length > 0) yield { choices: [{ index: 0, delta: { annotations: read } }] }
}

function* counted(response: unknown): Iterable<TranslatedChunk> {
  const usage = isRecord(response) ? toUsage(response.usage) : undefined
  const tier = isRecord(response) && typeof response.service_tier === 'string' ? { service_tier: response.service_tier } : {}
  if (usage !== undefined) yield { ...chunk.usage(usage), ...tier }
}
