import type { ChatMessage, ContentPart, FunctionToolCall, KeptTurn } from '../sdk/api.ts'
import { plainest } from './fit-chat.ts'
import { joinDetails, type ReasoningDetail, type StateOwner, type UpstreamState } from './state.ts'

type Extra = NonNullable<UpstreamState['extra']>

/** Collects the parts of an assistant's turn as one message of a chat completion. */
export class AssistantTurn {
  readonly #parts: ContentPart[] = []
  readonly #calls: FunctionToolCall[] = []
  /** What providers with names of their own want back with calls, by the numbers of these. */
  readonly #extras = new Map<number, Extra>()
  #wrapped: WrappedState | undefined
  #length = 0

  say(parts: readonly ContentPart[]): void {
    for (const part of parts) {
      this.#parts.push(part)
      if (part.type === 'text') this.#length += part.text.length
    }
  }

  /** Characters of text so far. */
  get length(): number {
    return this.#length
  }

  /** Reasoning that has the state of its upstream. */
  recall(state: UpstreamState, thoughts: string): void {
    const { owner, extra, call = this.#calls.length } = state
    if (owner !== undefined) {
      if (this.#wrapped?.isOf(owner) !== true) this.#wrapped = new WrappedState(owner)
      this.#wrapped.add(state, thoughts, call)
    } else if (extra !== undefined) this.#extras.set(call, { ...this.#extras.get(call), ...extra })
  }

  call(call: FunctionToolCall): void {
    this.#calls.push(call)
  }

  get message(): ChatMessage {
    const spoken = plainest(this.#parts, '')
    const calls = this.#calls.map((call, index) => {
      const extra = this.#extras.get(index)
      return extra === undefined ? call : { ...call, extra_content: { ...call.extra_content, ...extra } }
    })
    return {
      role: 'assistant',
      content: spoken === '' && calls.length > 0 ? null : spoken,
      ...(calls.length > 0 && { tool_calls: calls }),
      ...(this.#wrapped && { extra_content: { umg: this.#wrapped.members } }),
    }
  }
}

/** The state of a turn, of an upstream that has no name of its own in `extra_content`: its provider finds it by its owner. */
class WrappedState {
  readonly #owner: StateOwner
  readonly #thoughts: Record<string, string> = {}
  readonly #details: ReasoningDetail[] = []
  readonly #calls: Record<string, Extra> = {}

  constructor(owner: StateOwner) {
    this.#owner = owner
  }

  isOf({ name, model }: StateOwner): boolean {
    return this.#owner.name === name && this.#owner.model === model
  }

  add({ field, details = [], extra }: UpstreamState, thoughts: string, call: number): void {
    if (field !== undefined) this.#thoughts[field] = (this.#thoughts[field] ?? '') + thoughts
    this.#details.push(...details)
    if (extra !== undefined) this.#calls[call] = { ...this.#calls[call], ...extra }
  }

  get members(): KeptTurn {
    const details = joinDetails(this.#details)
    return {
      owner: this.#owner.name,
      model: this.#owner.model,
      message: { ...this.#thoughts, ...(details.length > 0 && { reasoning_details: details }) },
      ...(Object.keys(this.#calls).length > 0 && { calls: this.#calls }),
    }
  }
}
