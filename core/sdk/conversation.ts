import type { ChatMessage, FunctionToolCall, ToolCall, ToolChoice } from './chat.ts'
import { isRecord, parseRecord } from './json.ts'
import { invalidValue, unsupportedParameter } from './parameters.ts'

/** What a provider makes of each message. `path`: the message's place in the client's body, `messages[0]`. */
export interface MessageVisitor {
  /** Of the role `developer` too. */
  system(message: ChatMessage, path: string): void
  user(message: ChatMessage, path: string): void
  /** `calls`: the functions that it calls. */
  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): void
  tool(message: ChatMessage, path: string): void
}

/** What a provider makes of each message, where a tool's result goes with its call. */
export interface ConversationVisitor<Call> extends Pick<MessageVisitor, 'system' | 'user'> {
  /** Returns what is to be known of each call when its result comes, in the order of the calls. */
  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly Call[]
  /** `call`: the one that the message answers. */
  tool(message: ChatMessage, path: string, call: Call): void
}

/**
 * Visits messages in their order, for an upstream that knows functions only. Throws `GatewayError` (400) for a call of a custom tool, for
 * the functions of old, and for spoken answers.
 */
export function walkMessages(messages: readonly ChatMessage[], visitor: MessageVisitor): void {
  for (const [index, message] of messages.entries()) visit(message, `messages[${index}]`, visitor)
}

/** As `walkMessages`. Throws `GatewayError` (400) too where a tool call has no result before others speak, or a result has no call. */
export function walkConversation<Call>(messages: readonly ChatMessage[], visitor: ConversationVisitor<Call>): void {
  const unanswered = new Unanswered<Call>()
  walkMessages(messages, {
    system: (message, path) => visitor.system(message, path),
    user(message, path) {
      unanswered.expectNone(path)
      visitor.user(message, path)
    },
    assistant(message, path, calls) {
      unanswered.expectNone(path)
      const made = visitor.assistant(message, path, calls)
      for (const [index, { id }] of calls.entries()) unanswered.add(id, made[index]!)
    },
    tool: (message, path) => visitor.tool(message, path, unanswered.take(message.tool_call_id ?? '', path)),
  })
  unanswered.expectNone('messages')
}

function visit(message: ChatMessage, path: string, visitor: MessageVisitor): void {
  switch (message.role) {
    case 'developer':
    case 'system':
      visitor.system(message, path)
      break
    case 'user':
      visitor.user(message, path)
      break
    case 'assistant':
      visitor.assistant(message, path, callsOf(message, path))
      break
    case 'tool':
      visitor.tool(message, path)
      break
    case 'function':
      throw unsupportedParameter(`${path}.role`, 'Use `tool_calls` and the role `tool`.')
  }
}

function callsOf({ function_call, audio, tool_calls }: ChatMessage, path: string): readonly FunctionToolCall[] {
  if (function_call != null) throw unsupportedParameter(`${path}.function_call`, 'Use `tool_calls`.')
  if (audio != null) throw unsupportedParameter(`${path}.audio`, 'Send what was said as text.')
  return (tool_calls ?? []).map((call: ToolCall, index) => {
    if (call.type === 'function') return call
    throw unsupportedParameter(`${path}.tool_calls[${index}]`, 'Only tools of type `function` are known here.')
  })
}

/** The calls that wait for their results. */
class Unanswered<Call> {
  /** By the client's id: several where a client repeats itself. */
  readonly #calls = new Map<string, Call[]>()

  add(id: string, call: Call): void {
    const others = this.#calls.get(id)
    if (others) others.push(call)
    else this.#calls.set(id, [call])
  }

  take(id: string, path: string): Call {
    const calls = this.#calls.get(id)
    if (calls === undefined) {
      throw invalidValue(`${path}.tool_call_id`, 'no tool call before it has this id and waits for a result')
    }
    if (calls.length === 1) this.#calls.delete(id)
    return calls.shift()!
  }

  expectNone(path: string): void {
    const [id] = this.#calls.keys()
    if (id === undefined) return
    throw invalidValue(path, `the tool call '${id}' before it has no message with role 'tool' that gives its result`)
  }
}

/** The arguments of a call. Those that a model garbled, or that were cut off, stay in the history as they are: `{ arguments: text }`. */
export function argumentsOf({ function: { arguments: text } }: FunctionToolCall): Readonly<Record<string, unknown>> {
  return text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })
}

/** How ids of tool calls are made fit for an upstream. */
export interface IdRule {
  /** The id that a client's becomes. */
  fit(id: string): string
  /** Another one, where that is taken. `number`: from 2. */
  copy(fitted: string, number: number): string
}

/**
 * Gives every tool call of a conversation an id that the upstream takes, no two alike. An id depends on earlier messages only: the next
 * turn gives the same ones, which prompt caches and signed thinking rely on.
 */
export class ToolIds {
  readonly #rule: IdRule
  readonly #taken = new Set<string>()
  readonly #tries = new Map<string, number>()

  constructor(rule: IdRule) {
    this.#rule = rule
  }

  /** The id of the next call, which the client calls `id`. */
  take(id: string): string {
    const fitted = this.#rule.fit(id)
    // Counting on from the last try keeps a thousand equal ids from costing a million look-ups.
    for (let attempt = this.#tries.get(fitted) ?? 1; ; attempt++) {
      this.#tries.set(fitted, attempt + 1)
      const candidate = attempt === 1 ? fitted : this.#rule.copy(fitted, attempt)
      if (this.#taken.has(candidate)) continue
      this.#taken.add(candidate)
      return candidate
    }
  }
}

/** Which of its tools a client lets the model use, whichever way it said so. */
export interface AskedTools {
  readonly mode: 'none' | 'auto' | 'required'
  /** The tools this is about; absent: all. A named one stands alone, in mode `required`. */
  readonly names?: ReadonlySet<string>
}

/** A request's `tool_choice`, for providers that know functions only. Throws `GatewayError` for a custom tool, and for what means nothing. */
export function readToolChoice(choice: ToolChoice | null | undefined): AskedTools {
  if (choice == null) return { mode: 'auto' }
  if (choice === 'none' || choice === 'auto' || choice === 'required') return { mode: choice }
  if (choice.type === 'custom') throw unsupportedParameter('tool_choice', 'Only tools of type `function` are known here.')
  const allowed = choice.type === 'allowed_tools' ? choice.allowed_tools : { mode: 'required', tools: [choice] }
  const names = Array.isArray(allowed?.tools) ? allowed.tools.map(nameOf) : ['']
  if (names.includes('')) {
    throw invalidValue('tool_choice', "expected 'none', 'auto', 'required', a function by its name, or allowed tools")
  }
  return { mode: allowed.mode === 'required' ? 'required' : 'auto', names: new Set(names) }
}

/** The name in `{ type: 'function', function: { name } }`; '' where there is none. */
function nameOf(tool: unknown): string {
  const named = isRecord(tool) && isRecord(tool.function) ? tool.function.name : undefined
  return typeof named === 'string' ? named : ''
}
