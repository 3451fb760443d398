import { chunk, type TranslatedChunk, type UpstreamEvent } from 'unified-model-gateway/plugin'
import { toTokens } from './logprobs.ts'
import { type Call, readMessage, readReply, toFinishReason, toUsage } from './reply.ts'
import type { ChatReply } from './wire.ts'

/** Turns the lines of one streamed reply into chunks. Each has a piece of the message, calls of tools whole; the last has `done`. */
export class ChatStream {
  #calls = 0
  #over = false
  /** Of tokens whose text Ollama held back to see whether a call comes of it. */
  #tokens: ReturnType<typeof toTokens> = []

  /** Whether the last line has come. */
  get over(): boolean {
    return this.#over
  }

  /** Throws `UpstreamError` for a line that is an error, `Error` for what is no line of a reply. */
  *event({ data }: UpstreamEvent): Generator<TranslatedChunk> {
    if (this.#over) return
    const reply = readReply(JSON.parse(data))
    const { content, thinking, calls } = readMessage(reply)
    this.#tokens = [...this.#tokens, ...toTokens(reply.logprobs)]
    if (thinking) yield chunk.reasoning(thinking)
    if (content) yield this.#withLogprobs(chunk.content(content))
    for (const call of calls) yield* this.#call(call)
    if (reply.done === true) yield* this.#finish(reply)
  }

  /** Throws where the stream broke off. */
  end(): readonly TranslatedChunk[] {
    if (!this.#over) throw new Error('The stream ended before its last line.')
    return []
  }

  *#call({ id, name, json }: Call): Generator<TranslatedChunk> {
    const index = this.#calls++
    yield chunk.toolCall({ index, id, name })
    yield chunk.toolArguments(index, json)
  }

  *#finish(reply: ChatReply): Generator<TranslatedChunk> {
    this.#over = true
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
