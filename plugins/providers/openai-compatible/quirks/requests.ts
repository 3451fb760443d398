import {
  type ChatMessage,
  type ChatRequest,
  type ChatTool,
  type ContentPart,
  isRecord,
  readThinking,
  textOf,
} from 'unified-model-gateway/plugin'
import type { Quirk } from './quirk.ts'

/** The vendor does not know the role `developer`, OpenAI's system role for reasoning models. */
export const developerRole: Quirk = {
  name: 'developer-role',
  concerns: ['developer'],

  request({ messages }) {
    if (!messages.some(({ role }) => role === 'developer')) return {}
    return { messages: messages.map((message) => (message.role === 'developer' ? { ...message, role: 'system' } : message)) }
  },
}

/** The messages as a function changes them; none if it changes none of them. */
function changed(messages: ChatMessage[], change: (message: ChatMessage) => ChatMessage): { readonly messages?: ChatMessage[] } {
  const fitted = messages.map(change)
  return fitted.every((message, index) => message === messages[index]) ? {} : { messages: fitted }
}

/** The vendor takes one message of the role `system`, as the first one. Later instructions stay where they are, as the user's, so that caches hold. */
export const oneSystemMessage: Quirk = {
  name: 'one-system-message',
  concerns: ['system', 'developer'],

  request({ messages }) {
    const begin = messages.findIndex(({ role }) => role !== 'system')
    const first = begin < 0 ? messages : messages.slice(0, begin)
    const later = messages.slice(first.length)
    if (first.length < 2 && !later.some(({ role }) => role === 'system')) return {}
    return { messages: [...joined(first), ...later.map(asUser)] }
  },
}

const asUser = (message: ChatMessage): ChatMessage => (message.role === 'system' ? { ...message, role: 'user' } : message)

/** The vendor takes one system message, and then messages of the user and the assistant by turns. */
export const alternatingRoles: Quirk = {
  name: 'alternating-roles',

  request({ messages }) {
    const turns: ChatMessage[] = []
    for (const message of oneSystem(messages)) {
      const last = turns.at(-1)
      if (last?.role === message.role) turns.splice(-1, 1, ...joined([last, message]))
      else turns.push(message)
    }
    return turns.length === messages.length ? {} : { messages: turns }
  },
}

/** The messages, the instructions after the first turn as the user's. */
function oneSystem(messages: ChatMessage[]): ChatMessage[] {
  const begin = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  return begin < 0 ? messages : messages.map((message, index) => (index > begin ? asUser(message) : message))
}

/** What an assistant says between a tool's result and the user, where a vendor wants an answer. */
const HEARD: ChatMessage = { role: 'assistant', content: 'OK.' }

/**
 * The vendor wants an answer of the assistant after the results of tools, instructions before it, no empty answer, and a mark at one that the model
 * goes on with. Coding agents add reminders after the results of tools.
 */
export const mistralOrder: Quirk = {
  name: 'mistral-order',
  concerns: ['assistant', 'tool'],

  request({ messages }) {
    const ordered: ChatMessage[] = []
    for (const message of messages) {
      const before = ordered.at(-1)?.role
      if (message.role === 'assistant' && isEmpty(message)) continue
      const next = before === 'assistant' || before === 'tool' ? asUser(message) : message
      ordered.push(...(before === 'tool' && next.role === 'user' ? [HEARD, next] : [next]))
    }
    const last = ordered.at(-1)
    if (last?.role === 'assistant' && !callsTools(last)) ordered.splice(-1, 1, { ...last, prefix: true })
    const isSame = ordered.length === messages.length && ordered.every((message, index) => message === messages[index])
    return isSame ? {} : { messages: ordered }
  },
}

const callsTools = ({ tool_calls: calls }: ChatMessage): boolean => (calls ?? []).length > 0

const isEmpty = (message: ChatMessage): boolean => (message.content ?? '').length === 0 && !callsTools(message)

/** Messages of one role as one. */
function joined([first, ...others]: readonly ChatMessage[]): ChatMessage[] {
  if (first === undefined) return []
  const contents = [first, ...others].map(({ content }) => content ?? '')
  if (contents.every((content) => typeof content === 'string')) return [{ ...first, content: contents.join('\n\n') }]
  return [{ ...first, content: contents.flatMap(partsOf) }]
}

const partsOf = (content: string | ContentPart[]): ContentPart[] =>
  typeof content !== 'string' ? content : content === '' ? [] : [{ type: 'text', text: content }]

/** The vendor refuses `name` in messages. LangChain gives one to the results of tools, whose tool is known by the id of the call. */
export const noMessageNames: Quirk = {
  name: 'no-message-names',
  concerns: ['name'],

  request: ({ messages }) =>
    changed(messages, (message) => {
      if (!('name' in message)) return message
      const { name: _, ...rest } = message
      return rest
    }),
  // A tool's result is the tool's by the id of its call.
  lost: ({ messages }) => (messages.some(({ role, name }) => name && role !== 'tool') ? ['messages.name'] : []),
}

/** Members of OpenAI's answers, which its SDKs keep in the conversation. */
const OF_ANSWERS = ['refusal', 'annotations', 'audio', 'function_call']

/** The vendor refuses members of messages that it does not list. A refusal becomes the text of its answer. */
export const plainAnswers: Quirk = {
  name: 'plain-answers',
  concerns: OF_ANSWERS,

  request: ({ messages }) =>
    changed(messages, (message) => {
      const extra = OF_ANSWERS.filter((name) => name in message && !(name === 'function_call' && message[name] != null))
      if (message.role !== 'assistant' || extra.length === 0) return message
      const plain = Object.fromEntries(Object.entries(message).filter(([name]) => !extra.includes(name))) as ChatMessage
      return { ...plain, content: plain.content ?? (textOf(message.refusal) || null) }
    }),
}

/** The vendor refuses an empty content, also beside tool calls, and parts in the results of tools. */
export const filledContent: Quirk = {
  name: 'filled-content',
  concerns: ['assistant', 'tool'],

  request: ({ messages }) =>
    changed(messages, (message) => {
      const content = message.role === 'tool' && Array.isArray(message.content) ? textIn(message.content) : message.content
      const isEmpty = content == null || content.length === 0
      if ((message.role !== 'assistant' && message.role !== 'tool') || (content === message.content && !isEmpty)) return message
      return { ...message, content: isEmpty ? ' ' : content }
    }),
}

const textIn = (parts: readonly ContentPart[]): string =>
  parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join('\n')

/** The vendor refuses an empty list of tools. */
export const noEmptyTools: Quirk = {
  name: 'no-empty-tools',
  concerns: ['tools'],

  request({ tools }) {
    return tools == null || tools.length > 0 ? {} : { tools: undefined, tool_choice: undefined, parallel_tool_calls: undefined }
  },
}

/** The vendor takes `tool_choice` as a word only: a named tool is the only one, and required. */
export const wordsOfToolChoice: Quirk = {
  name: 'tool-choice-words',
  concerns: ['tool_choice'],

  request({ tool_choice: choice, tools }) {
    if (!isRecord(choice) || choice.type !== 'function') return {}
    const { name } = choice.function as { readonly name: string }
    const only = (tools ?? []).filter((tool) => tool.type === 'function' && tool.function.name === name)
    return only.length === 0 ? {} : { tools: only, tool_choice: 'required' }
  },
}

/** The vendor calls `seed` `random_seed`. */
export const randomSeed: Quirk = {
  name: 'random-seed',
  concerns: ['seed'],

  request: ({ seed }) => (seed == null ? {} : { random_seed: seed, seed: undefined }),
}

/** Whether a request leaves the model no choice but to call a tool. */
const forcesTool = ({ tool_choice: choice }: Readonly<ChatRequest>): boolean =>
  choice === 'required' || (isRecord(choice) && choice.type === 'function')

/** The vendor's models cannot be required to call a tool. */
export const autoToolChoice: Quirk = {
  name: 'auto-tool-choice',
  concerns: ['tool_choice'],

  request: (body) => (forcesTool(body) ? { ...wordsOfToolChoice.request!(body), tool_choice: 'auto' } : {}),
  lost: (body) => (forcesTool(body) ? ['tool_choice'] : []),
}

/** The vendor's models cannot be required to call a tool while they think. */
export const forcedToolsWithoutThinking: Quirk = {
  name: 'forced-tools-without-thinking',
  concerns: ['tool_choice'],

  request: (body) =>
    forcesTool(body) ? { thinking: { type: 'disabled' }, reasoning_effort: undefined, reasoning: undefined } : {},
  lost(body) {
    const asked = readThinking(body)
    return forcesTool(body) && asked !== undefined && asked.effort !== 'none' ? [asked.param] : []
  },
}

/** Kimi K2.5 and K2.6 think unless they are told not to; K3 always does, and can be required to call a tool, but none by its name. */
export const forcedToolsOfKimi: Quirk = {
  name: 'forced-tools-of-kimi',
  concerns: ['tool_choice'],

  request(body) {
    if (/kimi-k3/.test(body.model)) return wordsOfToolChoice.request!(body)
    return KIMI_2.test(body.model) ? forcedToolsWithoutThinking.request!(body) : {}
  },
  lost: (body) => (KIMI_2.test(body.model) ? forcedToolsWithoutThinking.lost!(body) : []),
}

const KIMI_2 = /kimi-k2\.[56]/

/** Models of Qwen's that may think or not, and cannot be required to call a tool while they think. */
export const forcedToolsOfQwen: Quirk = {
  name: 'forced-tools-of-qwen',
  concerns: ['tool_choice'],

  request: (body) =>
    QWEN.test(body.model) && forcesTool(body)
      ? { enable_thinking: false, thinking_budget: undefined, reasoning_effort: undefined, thinking: undefined }
      : {},
  lost: (body) => (QWEN.test(body.model) ? forcedToolsWithoutThinking.lost!(body) : []),
}

const QWEN = /qwen(?:3\.|-plus|-flash|-turbo)/

/** The vendor requires the parameters of each tool to be an object, with properties. */
export const typedTools: Quirk = {
  name: 'typed-tools',
  concerns: ['tools'],

  request({ tools }) {
    const typed = tools?.map(typedTool)
    return typed === undefined || typed.every((tool, index) => tool === tools![index]) ? {} : { tools: typed }
  },
}

function typedTool(tool: ChatTool): ChatTool {
  if (tool.type !== 'function') return tool
  const { parameters = {} } = tool.function
  if (textOf(parameters.type) === 'object' && isRecord(parameters.properties)) return tool
  return { ...tool, function: { ...tool.function, parameters: { properties: {}, ...parameters, type: 'object' } } }
}

/** The vendor refuses or ignores `max_completion_tokens`, and keeps its old name `max_tokens`. */
export const maxTokens: Quirk = {
  name: 'max-tokens',
  concerns: ['max_completion_tokens'],

  request(body) {
    if (!('max_completion_tokens' in body)) return {}
    const limit = body.max_completion_tokens ?? body.max_tokens ?? undefined
    return { max_completion_tokens: undefined, max_tokens: limit }
  },
}

/** The vendor refuses or does not know `stream_options`, and reports its usage without them. */
export const noStreamOptions: Quirk = {
  name: 'no-stream-options',

  request: () => ({ stream_options: undefined }),
}

/** Google takes a number of tokens to think with in a member of its own, and no effort with it. */
export const googleThinking: Quirk = {
  name: 'google-thinking',
  concerns: ['budget_tokens'],

  request(body) {
    const { budget, param } = readThinking(body) ?? {}
    if (budget === undefined || param !== 'thinking') return {}
    const thinking_config = { thinking_budget: budget, include_thoughts: true }
    return { thinking: undefined, reasoning_effort: undefined, extra_body: { google: { thinking_config } } }
  },
}
