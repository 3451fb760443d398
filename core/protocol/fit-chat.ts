import type { ChatMessage, ChatRequest, ChatTool, ContentPart, ParameterTable, ToolCall } from '../sdk/api.ts'
import { unsupportedParameter } from '../sdk/parameters.ts'
import type { ChatTranslation, Profile } from './client-protocol.ts'

/** Translated members that OpenAI does not know: upstreams that get the body as it is would refuse them. */
const NOT_OPENAI = ['top_k', 'cache_control']

/** What an upstream of unknown kind may not take either: hints that only OpenAI knows, which are harmless to leave out. */
const HINTS = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'safety_identifier']

/** How an upstream with this table takes a chat completion request. `isOpenai`: it has other endpoints of OpenAI too. */
export function profileOf(table: ParameterTable, isOpenai: boolean): Profile {
  if (table === 'verbatim') return isOpenai ? 'openai' : table
  return table.cache_control?.support === 'mapped' ? 'caching' : 'plain'
}

/**
 * A translated request as an upstream takes it, and the parameters left out, by their names in chat completions or the client's. Throws
 * `GatewayError` (400) for what only an upstream of the client's protocol serves.
 */
export function fitChat(
  { body, dropped, hasCacheMarks, foreign }: ChatTranslation,
  profile: Profile,
): { readonly body: ChatRequest; readonly dropped: readonly string[] } {
  if (foreign !== undefined) throw unsupportedParameter(foreign.param, foreign.hint)
  const left = leftOut(body, profile)
  const isUnmarked = hasCacheMarks && profile !== 'caching'
  const isForeign = !isTranslated(profile) && body.messages.some(hasExtra)
  if (left.length === 0 && !isUnmarked && !isForeign) return { body, dropped }
  const fitted: ChatRequest = { ...body, ...(isUnmarked && withoutMarks(body)) }
  if (isForeign) fitted.messages = fitted.messages.map(withoutExtra)
  for (const name of left) delete fitted[name]
  return { body: fitted, dropped: [...dropped, ...left, ...(isUnmarked ? ['cache_control'] : [])] }
}

/** Whether the upstream's provider makes a request of its own. */
const isTranslated = (profile: Profile): boolean => profile === 'caching' || profile === 'plain'

/** Providers that translate write the state of their upstreams there, and find it by their names. To any other upstream it is foreign. */
const hasExtra = ({ tool_calls: calls }: ChatMessage): boolean =>
  calls?.some(({ extra_content: extra }) => extra !== undefined) === true

function withoutExtra(message: ChatMessage): ChatMessage {
  if (!hasExtra(message)) return message
  return { ...message, tool_calls: message.tool_calls!.map(({ extra_content: _, ...call }) => call as ToolCall) }
}

/** Of an upstream whose models are not known, one that does not reason answers 400 to `reasoning_effort: none`. */
function leftOut(body: ChatRequest, profile: Profile): string[] {
  if (isTranslated(profile)) return []
  const isUnknown = profile === 'verbatim'
  const unknown = (isUnknown ? [...NOT_OPENAI, ...HINTS] : NOT_OPENAI).filter((name) => body[name] !== undefined)
  return isUnknown && body.reasoning_effort === 'none' ? [...unknown, 'reasoning_effort'] : unknown
}

const withoutMarks = ({ messages, tools }: ChatRequest) => ({
  messages: messages.map(withoutMessageMarks),
  ...(tools && { tools: tools.map((tool) => unmarked(tool) as ChatTool) }),
})

function withoutMessageMarks(message: ChatMessage): ChatMessage {
  const { content, tool_calls: calls } = message
  return {
    ...message,
    ...(Array.isArray(content) && { content: plainest(content.map(unmarked)) }),
    ...(calls && { tool_calls: calls.map(unmarked) }),
  }
}

/** Texts alone as one text, which every upstream takes. `between`: what separates them. */
export const plainest = (parts: readonly ContentPart[], between = '\n'): string | ContentPart[] =>
  parts.every((part) => part.type === 'text' && !('cache_control' in part))
    ? parts.flatMap((part) => (part.type === 'text' ? part.text : [])).join(between)
    : [...parts]

function unmarked<Part extends object>(part: Part): Part {
  if (!('cache_control' in part)) return part
  const { cache_control: _, ...rest } = part
  return rest as Part
}
