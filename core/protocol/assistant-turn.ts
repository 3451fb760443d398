import type { ChatMessage, ContentPart, FunctionToolCall } from '../sdk/api.ts'
import { plainest } from './fit-chat.ts'
import type { ReasoningField, UpstreamState } from './state.ts'

/** Collects the parts of an assistant's turn as one message of a chat completion. */
export class AssistantTurn {
  readonly #parts: ContentPart[] = []
  readonly #calls: FunctionToolCall[] = []
  /** The state of the next call. */
  #extra: UpstreamState['extra']
  #field: ReasoningField | undefined
  #thoughts = ''

  say(parts: readonly ContentPart[]): void {
    this.#parts.push(...parts)
  }

  /** Reasoning that has the state of its upstream. */
  recall({ extra, field }: UpstreamState, thoughts: string): void {
    this.#extra = extra ?? this.#extra
    if (field === undefined) return
    this.#field = field
    this.#thoughts += thoughts
  }

  call(call: FunctionToolCall): void {
    const extra = this.#extra
    this.#extra = undefined
    this.#calls.push(extra === undefined ? call : { ...call, extra_content: { ...call.extra_content, ...extra } })
  }

  get message(): ChatMessage {
    const spoken = plainest(this.#parts)
    const hasCalls = this.#calls.length > 0
    return {
      role: 'assistant',
      content: spoken === '' && hasCalls ? null : spoken,
      ...(hasCalls && { tool_calls: this.#calls }),
      // Upstreams that want it back want it with the calls that it led to.
      ...(hasCalls && this.#field && { [this.#field]: this.#thoughts }),
    }
  }
}
