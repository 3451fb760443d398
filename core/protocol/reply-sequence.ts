import type { ChatDelta, ToolCallDelta } from '../sdk/api.ts'
import { isRecord, parseRecord, textOf } from '../sdk/json.ts'
import { KeptText } from '../sdk/translated.ts'
import type { RepliedCall } from './client-protocol.ts'
import { REASONING_FIELDS, type ReasoningField } from './state.ts'

/** Receives the parts of a streamed reply, one after the other. */
export interface ReplyParts {
  think(text: string, field: ReasoningField): void
  text(text: string): void
  refuse(text: string): void
  /** A picture that the model has made, as a URL, nearly always one with its data. */
  picture(url: string): void
  /** A part of a tool call. `call`: its number in the reply. */
  tool(call: number, part: ToolCallDelta): void
}

/**
 * Puts the parts of a streamed reply in an order in which no part stands inside a tool call, for protocols whose parts do not overlap: what an
 * upstream sends before the open call is complete waits.
 */
export class ReplySequence {
  readonly #to: ReplyParts
  readonly #kept = new KeptText()
  /** The parts of calls that wait until the open one is complete, by the number of their call. */
  readonly #waiting = new Map<number, ToolCallDelta[]>()
  /** Texts and thoughts that wait for the open call. */
  readonly #waitingWords: (() => void)[] = []
  /** The call of the last part, and its arguments so far. */
  #open: { readonly call: number; json: string } | undefined

  constructor(to: ReplyParts) {
    this.#to = to
  }

  read(delta: ChatDelta): void {
    const reasoning = readReasoning(delta)
    if (reasoning !== undefined) this.#say(reasoning.text, (text) => this.#to.think(text, reasoning.field))
    this.#say(textOf(delta.content), (text) => this.#to.text(text))
    this.#say(textOf(delta.refusal), (text) => this.#to.refuse(text))
    for (const url of picturesOf(delta)) this.#say(url, (text) => this.#to.picture(text))
    const called = functionCallOf(delta)
    if (called !== undefined) this.#readCall(called)
    for (const part of Array.isArray(delta.tool_calls) ? delta.tool_calls : []) this.#readCall(part)
  }

  /** The reply is complete: passes on what waits. */
  end(): void {
    for (const write of this.#waitingWords) write()
    for (const [call, parts] of this.#waiting) for (const part of parts) this.#to.tool(call, part)
  }

  #say(text: string, write: (text: string) => void): void {
    if (text === '') return
    if (this.#isBusy()) {
      this.#kept.add(text)
      this.#waitingWords.push(() => write(text))
      return
    }
    this.#open = undefined
    write(text)
  }

  #readCall(part: ToolCallDelta): void {
    const call = part.index ?? 0
    const waiting = this.#waiting.get(call)
    if (waiting === undefined && (this.#open?.call === call || !this.#isBusy())) {
      this.#tool(call, part)
      return
    }
    this.#kept.add(part.function?.arguments)
    if (waiting === undefined) this.#waiting.set(call, [part])
    else waiting.push(part)
  }

  #tool(call: number, part: ToolCallDelta): void {
    if (this.#open?.call !== call) this.#open = { call, json: '' }
    this.#open.json += this.#kept.add(part.function?.arguments)
    this.#to.tool(call, part)
  }

  /** Whether a tool call is open whose arguments are not complete, or something waits already: the order is kept. */
  #isBusy(): boolean {
    if (this.#waiting.size > 0 || this.#waitingWords.length > 0) return true
    return this.#open !== undefined && parseRecord(this.#open.json) === undefined
  }
}

/**
 * The ids of the calls of a reply. Some upstreams number their calls in each reply: Kimi K3 at Fireworks (github.com/fw-ai/fireconnect/issues/16) and
 * vLLM (vllm-project/vllm, issue 50295); Xinference gives those of one reply the same id (xorbitsai/inference, issue 4237). Clients know a call by
 * its id: Claude Code removes one whose id was there before, and the model calls again without an end.
 */
export class CallIds {
  readonly #call: Pick<RepliedCall, 'mayInclude'>
  readonly #taken = new Set<string>()

  constructor(call: Pick<RepliedCall, 'mayInclude'>) {
    this.#call = call
  }

  /** An id as the client would read it; undefined if it needs another one, since the conversation may have this one already. */
  take(id: string): string | undefined {
    if (id === '' || this.#taken.has(id) || this.#call.mayInclude(JSON.stringify(id))) return undefined
    this.#taken.add(id)
    return id
  }
}

/** The pictures in a message or a delta, where OpenRouter, Gemini and others write them: `images: [{type: 'image_url', image_url: {url}}]`. */
export function picturesOf({ images }: Readonly<Record<string, unknown>>): readonly string[] {
  if (!Array.isArray(images)) return []
  return images
    .map((image) => (isRecord(image) && isRecord(image.image_url) ? textOf(image.image_url.url) : ''))
    .filter((url) => url !== '')
}

/** A call in the way before tools, or a part of one; undefined if there is none. Servers of that time have one call a reply. */
export function functionCallOf({ function_call: called }: Readonly<Record<string, unknown>>): ToolCallDelta | undefined {
  if (!isRecord(called)) return undefined
  const { name, arguments: json } = called
  return { index: 0, function: { ...(textOf(name) !== '' && { name: textOf(name) }), arguments: textOf(json) } }
}

/** The member of a message or a delta that has reasoning, and the reasoning. */
export function readReasoning(
  message: Readonly<Record<string, unknown>>,
): { readonly field: ReasoningField; readonly text: string } | undefined {
  const field = REASONING_FIELDS.find((name) => textOf(message[name]) !== '')
  return field && { field, text: textOf(message[field]) }
}
