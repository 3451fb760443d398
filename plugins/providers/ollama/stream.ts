import {
  chunk,
  KeptText,
  type TranslatedChunk,
  type TranslatedCompletion,
  type Translator,
  type UpstreamDecoder,
  type UpstreamEvent,
} from 'unified-model-gateway/plugin'
import {
  type Call,
  expectAnswer,
  isOver,
  newCallId,
  readMessage,
  readReply,
  readRequired,
  toCompletion,
  toFinishReason,
  toTokens,
  toUsage,
} from './reply.ts'
import type { RequiredCall } from './tools.ts'
import type { ChatReply } from './wire.ts'

/** Translates the reply to `POST /api/chat`, whole or streamed. Each line of a streamed one has a piece of the message or whole tool calls; the last has `done`. */
export class ChatTranslator implements Translator {
  readonly #required: RequiredCall | undefined
  /** The content that is to be a call, of a tool that it names. */
  #content = ''
  readonly #kept = new KeptText()
  #calls = 0
  readonly #ids = new Set<string>()
  #hasAnswer = false
  #over = false
  /** Log probabilities of tokens whose text Ollama holds back until it knows whether they are a tool call. */
  #tokens: ReturnType<typeof toTokens>[number][] = []

  /** `required`: the call that the reply must be. */
  constructor(required: RequiredCall | undefined) {
    this.#required = required
  }

  completion(body: unknown): TranslatedCompletion {
    return toCompletion(body, this.#required)
  }

  decoder(): UpstreamDecoder {
    return new LineDecoder()
  }

  /** Whether the last line has arrived. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for a line with an error, `Error` for a line that is not of a reply. */
  *event({ data }: UpstreamEvent): Generator<TranslatedChunk> {
    if (this.#over) return
    const reply = readReply(JSON.parse(data))
    const { content, thinking, calls } = readMessage(reply)
    this.#tokens.push(...toTokens(reply.logprobs))
    if (thinking) yield chunk.reasoning(thinking)
    if (content) yield* this.#addContent(content)
    for (const call of calls) yield* this.#call(call)
    this.#hasAnswer ||= content !== '' || calls.length > 0
    if (isOver(reply)) yield* this.#finish(reply)
  }

  /** Throws if the last line has not arrived. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before its last line.')
    return []
  }

  *#addContent(content: string): Generator<TranslatedChunk> {
    if (this.#required === undefined) yield this.#withLogprobs(chunk.content(content))
    else if (this.#required.name === undefined) this.#content += this.#kept.add(content)
    else {
      if (this.#calls === 0) yield chunk.toolCall({ index: this.#calls++, id: newCallId(), name: this.#required.name })
      yield this.#withLogprobs(chunk.toolArguments(0, content))
    }
  }

  *#call({ id, name, json }: Call): Generator<TranslatedChunk> {
    if (this.#ids.has(id)) throw new Error('a call that comes twice')
    this.#ids.add(id)
    const index = this.#calls++
    yield chunk.toolCall({ index, id, name })
    yield chunk.toolArguments(index, json)
  }

  *#finish(reply: ChatReply): Generator<TranslatedChunk> {
    this.#over = true
    expectAnswer(reply, this.#hasAnswer)
    const call = this.#content === '' ? undefined : readRequired(this.#content, this.#required!)
    if (call !== undefined) yield* this.#call(call)
    else if (this.#content !== '') yield this.#withLogprobs(chunk.content(this.#content))
    yield this.#withLogprobs(chunk.finish(toFinishReason(reply, this.#calls)))
    const usage = toUsage(reply)
    if (usage) yield chunk.usage(usage)
  }

  #withLogprobs(part: TranslatedChunk): TranslatedChunk {
    if (this.#tokens.length === 0) return part
    const logprobs = { content: this.#tokens, refusal: null }
    this.#tokens = []
    return { ...part, choices: part.choices.map((choice) => ({ ...choice, logprobs })) }
  }
}

const LINE_FEED = 10
/** Far above any line of a real reply: a longer one must not fill the memory. */
const MAX_LINE = 8 << 20

/** Cuts bytes into the lines of `application/x-ndjson`, one JSON text each. Blank lines are ignored. */
class LineDecoder implements UpstreamDecoder {
  #pieces: Buffer[] = []
  #length = 0

  /** The incomplete line: the last one needs no line feed. */
  end(): readonly UpstreamEvent[] {
    const data = Buffer.concat(this.#pieces).toString('utf8').trim()
    this.#pieces = []
    this.#length = 0
    return data === '' ? [] : [{ type: '', data }]
  }

  *push(bytes: Buffer): Generator<UpstreamEvent> {
    let from = 0
    for (let end = bytes.indexOf(LINE_FEED); end >= 0; end = bytes.indexOf(LINE_FEED, from)) {
      this.#keep(bytes.subarray(from, end))
      yield* this.end()
      from = end + 1
    }
    this.#keep(bytes.subarray(from))
  }

  #keep(bytes: Buffer): void {
    if (bytes.length === 0) return
    this.#pieces.push(bytes)
    this.#length += bytes.length
    if (this.#length > MAX_LINE) throw new Error(`A line has more than ${MAX_LINE} bytes.`)
  }
}
