import { createHash } from 'node:crypto'
import type { ChatMessage, ChatRequest, FunctionToolCall, ToolCall } from './chat.ts'
import { isRecord, parseRecord } from './json.ts'
import { invalidValue, unsupportedParameter, withoutPictures } from './parameters.ts'

/** Translates the messages of a conversation, one method per role. `path`: the message's place in the client's body, `messages[0]`. */
export interface MessageVisitor {
  /**
   * Its upstream takes the pictures of earlier answers, which are in the `images` of the assistant's messages or parts of their content. Absent: `assistant`
   * visits these messages without them; `droppedInside` names them.
   */
  readonly takesPictures?: true
  /** Also visits messages of the role `developer`. */
  system(message: ChatMessage, path: string): void
  user(message: ChatMessage, path: string): void
  /** `calls`: the function calls of the message. */
  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): void
  tool(message: ChatMessage, path: string): void
}

/** Translates the messages of a conversation for an upstream that pairs each tool result with its call. */
export interface ConversationVisitor<Call> extends Pick<MessageVisitor, 'takesPictures' | 'system' | 'user'> {
  /**
   * Visits instructions that follow another message, for an upstream that takes instructions at the beginning only: there they would change the
   * beginning of each request, and with it what the upstream has cached. Results of open tool calls are visited before. Absent: `system` visits them.
   */
  later?(message: ChatMessage, path: string): void
  /** Returns, for each call and in their order, the value that `tool` receives with the call's result. */
  assistant(message: ChatMessage, path: string, calls: readonly FunctionToolCall[]): readonly Call[]
  /** `call`: what `assistant` returned for the call that the message answers. */
  tool(message: ChatMessage, path: string, call: Call): void
}

/**
 * Visits messages in order, for an upstream that takes functions only. Throws `GatewayError` (400) for a call of a custom tool, for
 * deprecated functions, and for audio of the assistant.
 */
export function walkMessages(messages: readonly ChatMessage[], visitor: MessageVisitor): void {
  for (const [index, message] of messages.entries()) visit(message, `messages[${index}]`, visitor)
}

/** As `walkMessages`. Also throws `GatewayError` (400) if a tool call has no result before the next turn, or a result has no call. */
export function walkConversation<Call>(messages: readonly ChatMessage[], visitor: ConversationVisitor<Call>): void {
  const unanswered = new UnansweredCalls<Call>()
  /** Instructions that wait for results. */
  const waiting: (() => void)[] = []
  let hasBegun = false
  walkMessages(messages, {
    ...(visitor.takesPictures && { takesPictures: true }),
    system(message, path) {
      if (visitor.later === undefined || !hasBegun) visitor.system(message, path)
      else if (unanswered.none) visitor.later(message, path)
      else waiting.push(() => visitor.later!(message, path))
    },
    user(message, path) {
      hasBegun = true
      unanswered.expectNone(path)
      visitor.user(message, path)
    },
    assistant(message, path, calls) {
      hasBegun = true
      unanswered.expectNone(path)
      const made = visitor.assistant(message, path, calls)
      for (const [index, { id }] of calls.entries()) unanswered.add(id, made[index]!)
    },
    tool(message, path) {
      visitor.tool(message, path, unanswered.take(message.tool_call_id ?? '', path))
      if (unanswered.none) for (const visit of waiting.splice(0)) visit()
    },
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
      visitor.assistant(visitor.takesPictures ? message : withoutPictures(message), path, callsOf(message, path))
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

/** The tool calls without a result so far. */
class UnansweredCalls<Call> {
  /** By the client's id; several if a client uses an id twice. */
  readonly #calls = new Map<string, Call[]>()

  add(id: string, call: Call): void {
    const others = this.#calls.get(id)
    if (others) others.push(call)
    else this.#calls.set(id, [call])
  }

  take(id: string, path: string): Call {
    const calls = this.#calls.get(id)
    if (calls === undefined) {
      throw invalidValue(`${path}.tool_call_id`, 'no earlier tool call without a result has this id')
    }
    if (calls.length === 1) this.#calls.delete(id)
    return calls.shift()!
  }

  get none(): boolean {
    return this.#calls.size === 0
  }

  expectNone(path: string): void {
    const [id] = this.#calls.keys()
    if (id === undefined) return
    throw invalidValue(path, `the tool call '${id}' before it has no message with role 'tool' that gives its result`)
  }
}

/** A turn of a conversation, for an upstream whose roles alternate. */
export interface Turn<Role, Block> {
  readonly role: Role
  readonly content: Block[]
}

/** Appends blocks to the last turn if it has the same role, else as a new turn. Without blocks it does nothing. */
export function appendToTurns<Role, Block>(turns: Turn<Role, Block>[], role: Role, blocks: readonly Block[]): void {
  if (blocks.length === 0) return
  const last = turns.at(-1)
  if (last?.role === role) for (const block of blocks) last.content.push(block)
  else turns.push({ role, content: [...blocks] })
}

/**
 * What the user says after an answer that the model does not continue: many models refuse a conversation that ends with the assistant, and OpenAI's take
 * it as one in which the assistant goes on.
 */
export const CONTINUE = 'Continue.'

/** The arguments of a call as an object. Arguments that are no JSON object stay in the conversation, as `{ arguments: text }`. */
export function argumentsOf({ function: { arguments: text } }: FunctionToolCall): Readonly<Record<string, unknown>> {
  return text.trim() === '' ? {} : (parseRecord(text) ?? { arguments: text })
}

/** How a client's ids of tool calls become ids that an upstream takes. */
export interface IdRule {
  /** The upstream's id for a client's. */
  fit(id: string): string
  /** Another id, if that one is taken. `number`: from 2. */
  copy(fitted: string, number: number): string
}

/** The rule of an upstream that takes ids of this form only: any other id becomes a digest of itself, of `length` characters of 0-9a-f. */
export function digestIds(valid: RegExp, length: number): IdRule {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, length)
  return {
    fit: (id) => (valid.test(id) ? id : digest(id)),
    copy: (fitted, number) => digest(`${number}:${fitted}`),
  }
}

/**
 * Gives every tool call of a conversation a unique id that the upstream takes. An id depends on earlier messages only: the next turn
 * gets the same ids, which prompt caches and signed thinking require.
 */
export class ToolIds {
  readonly #rule: IdRule
  readonly #taken = new Set<string>()
  readonly #attempts = new Map<string, number>()

  constructor(rule: IdRule) {
    this.#rule = rule
  }

  /** The upstream's id of the next call. `id`: the client's. */
  take(id: string): string {
    const fitted = this.#rule.fit(id)
    // Continues from the last attempt: a thousand equal ids would otherwise cost a million look-ups.
    for (let attempt = this.#attempts.get(fitted) ?? 1; ; attempt++) {
      this.#attempts.set(fitted, attempt + 1)
      const candidate = attempt === 1 ? fitted : this.#rule.copy(fitted, attempt)
      if (this.#taken.has(candidate)) continue
      this.#taken.add(candidate)
      return candidate
    }
  }
}

/** The `extra_content` of tool calls in earlier replies, by the ids of the calls. */
export type CallStates = ReadonlyMap<string, Readonly<Record<string, unknown>>>

/** What a request has of them in addition to what its client has sent: those that were kept; or none at all, not even the client's, since the upstream has refused them. */
export type AttemptStates = CallStates | 'none'

/** The tool calls of a message; none if it has no list of them. */
const toolCallsOf = ({ tool_calls: calls }: ChatMessage) => (Array.isArray(calls) ? calls.filter(isRecord) : [])

/** The ids of tool calls whose `extra_content` the client may have dropped: those of messages in which no call has one. */
export const idsWithoutState = ({ messages }: Readonly<ChatRequest>): readonly string[] =>
  messages.flatMap((message) => {
    const calls = toolCallsOf(message)
    return hasState(message) ? [] : calls.map(({ id }) => id)
  })

const hasState = (message: ChatMessage): boolean => toolCallsOf(message).some((call) => call.extra_content != null)

/** Whether any tool call of a request has an `extra_content`. */
export const hasCallStates = ({ messages }: Readonly<ChatRequest>): boolean => messages.some(hasState)

/**
 * A request whose tool calls have the `extra_content` that the client has dropped, or none; the same one if there is nothing to change.
 * `states`: of the attempt.
 */
export function withCallStates(request: Readonly<ChatRequest>, states: AttemptStates | undefined): Readonly<ChatRequest> {
  if (states === 'none') return { ...request, messages: request.messages.map(withoutState) }
  if (states === undefined || states.size === 0) return request
  const messages = request.messages.map((message) => {
    const calls = toolCallsOf(message)
    if (!calls.some(({ id }) => states.has(id)) || hasState(message)) return message
    const restored = calls.map((call) => (states.has(call.id) ? { ...call, extra_content: states.get(call.id)! } : call))
    return { ...message, tool_calls: restored }
  })
  return { ...request, messages }
}

function withoutState(message: ChatMessage): ChatMessage {
  if (!hasState(message)) return message
  return { ...message, tool_calls: toolCallsOf(message).map(({ extra_content: _, ...call }) => call as ToolCall) }
}
