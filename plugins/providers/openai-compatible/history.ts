import {
  type ChatMessage,
  type ContentPart,
  hasMadePictures,
  isRecord,
  readKeptTurn,
  type ToolCall,
  textOf,
  withoutPictures,
} from 'unified-model-gateway/plugin'

/** What a vendor takes back of earlier answers, its own and those of other models. */
export interface History {
  /** The members of an assistant's message that it takes. Absent: as the client sends them. */
  readonly members?: readonly string[]
  /** A member that it requires of every answer, and the value of answers that have none. */
  readonly required?: readonly [name: string, otherwise: string]
  /** What it has to say of a tool call. */
  readonly calls?: 'thought signatures'
  /** It takes its thoughts as parts of the content. */
  readonly parts?: true
  /** What the vendor writes as `format` into its `reasoning_details`. */
  readonly format?: RegExp
  /** It takes the pictures of earlier answers. */
  readonly pictures?: true
}

/** The kinds of history, by the names that a namespace may give. */
export const HISTORIES = {
  // Servers that ignore what they do not know, and vendors of whom nothing is known.
  'as-sent': { pictures: true },
  none: { members: [] },
  reasoning: { members: ['reasoning'] },
  'reasoning-content': { members: ['reasoning_content'] },
  // A space, since some models take '' for an absence: github.com/theopenco/llmgateway/pull/2093 (Kimi K2.5 and K2.6 at api.moonshot.ai, 2026-04-26),
  // github.com/NousResearch/hermes-agent/pull/17341 (DeepSeek V4 Pro, 2026-04-29).
  'required-reasoning-content': { members: ['reasoning_content'], required: ['reasoning_content', ' '] },
  // openrouter.ai/docs/use-cases/reasoning-tokens, "Preserving reasoning": `format` says whose an entry is.
  // `images` of an assistant's message: github.com/OpenRouterTeam/typescript-sdk, `ChatAssistantMessage` (of 2026-08-22).
  'reasoning-details': { members: ['reasoning', 'reasoning_details'], format: /^(?!minimax)/i, pictures: true },
  // platform.minimax.io/docs/api-reference/text-openai-api, `reasoning_split`: entries of the format MiniMax-response-v1.
  'minimax-details': { members: ['reasoning_content', 'reasoning_details'], format: /^minimax/i },
  // docs.mistral.ai/capabilities/reasoning: a part `thinking` in the content.
  'thinking-parts': { members: [], parts: true },
  // ai.google.dev/gemini-api/docs/thought-signatures, "OpenAI compatibility".
  'thought-signatures': { members: [], calls: 'thought signatures' },
} as const satisfies Readonly<Record<string, History>>

/** The name of a kind of history. */
export type HistoryKind = keyof typeof HISTORIES

/** A kind of history, and whose it is. */
export interface OwnHistory {
  readonly kind: HistoryKind
  /** `Provider.stateOwner` */
  readonly owner: string
  /** The upstream's name of the model that answers next. */
  readonly model: string
}

/** Members of an assistant's message in which upstreams, gateways and clients keep reasoning and its state. */
const STATES = [
  'reasoning_content',
  'reasoning',
  'reasoning_details',
  'thinking_blocks',
  'provider_specific_fields',
  'extra_content',
]
/** Types of parts of a content with reasoning. */
const THOUGHTS: readonly string[] = ['thinking', 'redacted_thinking', 'reasoning']
const ANY_STATE = [...STATES, 'thinking']

/** A body without members of these names has no answer that a vendor with this kind of history takes in another form. */
export function concernsOf(kind: HistoryKind): readonly string[] {
  const { members, required, calls, pictures }: History = HISTORIES[kind]
  if (required !== undefined) return ['role']
  if (calls !== undefined) return [...ANY_STATE, 'images', 'tool_calls']
  if (members === undefined) return ['extra_content']
  return pictures ? ANY_STATE : [...ANY_STATE, 'images']
}

/** Whether a request has pictures of earlier answers that a vendor with this kind of history does not take. */
export const losesPictures = (messages: readonly ChatMessage[], kind: HistoryKind): boolean =>
  !(HISTORIES[kind] as History).pictures && messages.some(hasMadePictures)

/** The messages as a vendor takes them: the state of others is left out, and its own is where its API has it. The same list if nothing changes. */
export function withHistory(messages: ChatMessage[], history: OwnHistory): ChatMessage[] {
  const fitted = messages.map((message) => (message.role === 'assistant' ? fit(message, history) : message))
  if (fitted.every((message, index) => message === messages[index])) return messages
  return fitted.filter((message, index) => message === messages[index] || !hasMadePictures(messages[index]!) || says(message))
}

/** Whether an answer has more than its pictures. */
const says = ({ content, tool_calls: calls, images }: ChatMessage): boolean =>
  (content ?? '').length > 0 || (calls ?? []).length > 0 || images != null

function fit(sent: ChatMessage, { kind, owner, model }: OwnHistory): ChatMessage {
  const history: History = HISTORIES[kind]
  const message = history.pictures ? sent : withoutPictures(sent)
  const { members = STATES } = history
  const kept = readKeptTurn(message, owner)
  const isOfModel = kept?.model === model
  const fitted: ChatMessage = { ...message }
  for (const name of STATES) delete fitted[name]
  Object.assign(fitted, pick(message, history), kept && pick(isOfModel ? kept.message : unsigned(kept.message), { members }))
  const [required, otherwise] = history.required ?? []
  if (required !== undefined && textOf(fitted[required]) === '') fitted[required] = otherwise
  if (Array.isArray(message.content)) fitted.content = fitParts(message.content, history)
  if (history.parts && isOfModel) fitted.content = withThoughts(fitted.content, textOf(kept.message.reasoning_content))
  if (message.tool_calls != null) {
    const calls = message.tool_calls.map((call, index) => fitCall(call, history, isOfModel ? kept.calls?.[index] : undefined))
    fitted.tool_calls = history.calls === undefined ? calls : signed(calls, model)
  }
  return isSame(fitted, message) ? message : fitted
}

/** Of what a model has made, that which another model of its vendor takes: text without a signature. */
const unsigned = ({ reasoning_content: text }: Readonly<Record<string, unknown>>) =>
  text === undefined ? {} : { reasoning_content: text }

/** The members that a vendor takes, of those that keep state. */
function pick(from: Readonly<Record<string, unknown>>, { members = STATES, format }: History): Record<string, unknown> {
  const picked: Record<string, unknown> = {}
  for (const name of members) {
    const value = name === 'extra_content' ? notOurs(from[name]) : from[name]
    const own = name === 'reasoning_details' && format !== undefined ? detailsOf(value, format) : value
    if (own !== undefined) picked[name] = own
  }
  return picked
}

function detailsOf(value: unknown, format: RegExp): unknown {
  if (!Array.isArray(value)) return undefined
  const own = value.filter((each: unknown) => isRecord(each) && format.test(textOf(each.format)))
  return own.length === 0 ? undefined : own.length === value.length ? value : own
}

/** The names under which this gateway writes state. Google writes `google` itself, in its API with OpenAI's protocol. */
const OURS = ['umg', 'anthropic', 'bedrock', 'cohere', 'openai']

/** An `extra_content` without what this gateway has written. */
function notOurs(extra: unknown): unknown {
  if (!isRecord(extra) || !OURS.some((name) => Object.hasOwn(extra, name))) return extra
  const others = Object.entries(extra).filter(([name]) => !OURS.includes(name))
  return others.length === 0 ? undefined : Object.fromEntries(others)
}

/** Thoughts of others are not part of an answer. */
function fitParts(content: ContentPart[], { members, parts }: History): ContentPart[] | null {
  if (members === undefined || parts || !content.some(({ type }) => THOUGHTS.includes(type))) return content
  const words = content.filter(({ type }) => !THOUGHTS.includes(type))
  return words.length > 0 ? words : null
}

function withThoughts(content: ChatMessage['content'], thoughts: string): ChatMessage['content'] {
  if (thoughts === '') return content
  const words = typeof content === 'string' ? (content === '' ? [] : [{ type: 'text', text: content }]) : (content ?? [])
  return [{ type: 'thinking', thinking: [{ type: 'text', text: thoughts }] }, ...words] as unknown as ContentPart[]
}

/** `own`: the `extra_content` that the vendor gave this call. */
function fitCall(call: ToolCall, { members, calls }: History, own: unknown): ToolCall {
  const { extra_content: extra, ...rest } = call
  const taken = isRecord(own) ? own : members === undefined ? notOurs(extra) : calls === undefined ? undefined : ofGoogle(extra)
  if (taken === extra) return call
  return taken === undefined ? (rest as ToolCall) : { ...call, extra_content: taken as Record<string, unknown> }
}

function ofGoogle(extra: unknown): unknown {
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {}
  const signature = textOf(google.thought_signature)
  if (signature === '') return undefined
  return Object.keys(extra as object).length === 1 && Object.keys(google).length === 1
    ? extra
    : { google: { thought_signature: signature } }
}

/** Models before Gemini 3 require no signatures. */
const UNSIGNED = /gemini-[12]|gemma/
/** Google's own value for a signature that was lost, or that another model's call never had. */
const LOST = { google: { thought_signature: 'skip_thought_signature_validator' } }

/** Gemini 3 answers 400 if the first call of a step has no signature. */
function signed(calls: ToolCall[], model: string): ToolCall[] {
  const [first, ...others] = calls
  if (first === undefined || UNSIGNED.test(model) || calls.some(({ extra_content: extra }) => extra !== undefined)) return calls
  return [{ ...first, extra_content: LOST }, ...others]
}

/** Whether a message has the same members. */
function isSame(fitted: ChatMessage, message: ChatMessage): boolean {
  const names = Object.keys(fitted)
  if (names.length !== Object.keys(message).length) return false
  return names.every((name) => fitted[name] === message[name] || (name === 'tool_calls' && sameCalls(fitted, message)))
}

const sameCalls = ({ tool_calls: fitted }: ChatMessage, { tool_calls: calls }: ChatMessage): boolean =>
  fitted?.every((call, index) => call === calls?.[index]) === true
