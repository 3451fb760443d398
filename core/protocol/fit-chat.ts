import { GatewayError } from '../errors.ts'
import type {
  BudgetHint,
  BudgetMember,
  ChatMessage,
  ChatRequest,
  ChatTool,
  ContentPart,
  Hints,
  Provider,
  ToolCall,
} from '../sdk/api.ts'
import { hasMadePictures, unsupportedParameter, withoutPictures, withPicturesBeside } from '../sdk/parameters.ts'
import { readThinking } from '../sdk/request-options.ts'
import type { ChatTranslation, Profile } from './client-protocol.ts'
import type { Foreign } from './notes.ts'

/** Translated members that OpenAI does not know: upstreams that get the body as it is would refuse them. */
const NOT_OPENAI = ['top_k', 'cache_control']

/** What an upstream of unknown kind may not take either: hints that only OpenAI knows, which are harmless to leave out. */
const HINTS = ['prompt_cache_key', 'prompt_cache_retention', 'prompt_cache_options', 'safety_identifier']

/**
 * How a provider takes a chat completion request for a model. `isOpenai`: it has other endpoints of OpenAI too.
 */
export function profileOf(provider: Pick<Provider, 'parameters' | 'hints'>, model: string, isOpenai: boolean): Profile {
  const { parameters } = provider
  const table = typeof parameters === 'function' ? parameters(model) : parameters
  if (table === 'verbatim') return { kind: isOpenai ? 'openai' : table, ...(provider.hints?.(model) ?? NO_HINTS) }
  return {
    kind: 'translated',
    efforts: ANY,
    cacheControl: table.cache_control?.support === 'mapped',
    ...(table.thinking?.support === 'mapped' && { budget: { by: 'thinking' } }),
  }
}

const NO_HINTS: Hints = { efforts: [], cacheControl: false }

/** The efforts of protocols, from the least. */
const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']
/** A provider that translates knows its models. */
const ANY: readonly string[] = ORDER

/** A name of a profile, which all profiles like it have. */
export const profileKey = ({ kind, efforts, cacheControl, budget }: Profile): string =>
  [kind, cacheControl, budget?.by, budget?.switch, budget?.least, budget?.most, ...efforts].join(' ')

function foreignError({ param, hint, missing }: Foreign): GatewayError {
  if (missing === undefined) return unsupportedParameter(param, hint)
  return new GatewayError(missing.row, { param, values: { id: String(missing.id).slice(0, 200) } })
}

/**
 * A translated request as an upstream takes it, and the parameters left out, by their names in chat completions or the client's. Throws
 * `GatewayError` (400) for what only an upstream of the client's protocol serves.
 */
export function fitChat(
  { body, dropped, hasCacheMarks, effortIsHint, foreign }: ChatTranslation,
  profile: Profile,
): { readonly body: ChatRequest; readonly dropped: readonly string[] } {
  if (foreign !== undefined) throw foreignError(foreign)
  const thinking = toThinking(body, profile, effortIsHint)
  const left = leftOut(body, profile)
  const isUnmarked = hasCacheMarks && !profile.cacheControl
  const isVerbatim = profile.kind !== 'translated'
  const isForeign = isVerbatim && body.messages.some(hasExtra)
  const hasPictures = isVerbatim && body.messages.some(hasMadePictures)
  if (left.length === 0 && thinking === SAME && !isUnmarked && !isForeign && !hasPictures) return { body, dropped }
  const fitted: ChatRequest = {
    ...body,
    ...thinking.members,
    ...(isUnmarked && withoutMarks(body)),
  }
  if (isForeign) fitted.messages = fitted.messages.map(withoutExtra)
  if (hasPictures) fitted.messages = fitted.messages.flatMap(profile.pictures ? toImages : leftText)
  for (const name of [...left, ...thinking.removed]) delete fitted[name]
  const more = [...(isUnmarked ? ['cache_control'] : []), ...(hasPictures && !profile.pictures ? ['messages.images'] : [])]
  return { body: fitted, dropped: [...dropped, ...left, ...thinking.dropped, ...more] }
}

const toImages = (message: ChatMessage): ChatMessage => plain(withPicturesBeside(message))

/** A message without its pictures; none if it had nothing else. */
function leftText(message: ChatMessage): ChatMessage[] {
  const left = plain(withoutPictures(message))
  return left === message || left.content != null || (left.tool_calls ?? []).length > 0 ? [left] : []
}

/** A message whose content is a text if its parts are texts, and null if it has none. */
function plain(message: ChatMessage): ChatMessage {
  if (message.role !== 'assistant' || !Array.isArray(message.content)) return message
  return { ...message, content: message.content.length > 0 ? plainest(message.content) : null }
}

/** Providers that translate write the state of their upstreams there, and find it by their names. To any other upstream it is foreign. */
const hasExtra = ({ tool_calls: calls }: ChatMessage): boolean =>
  calls?.some(({ extra_content: extra }) => extra !== undefined) === true

function withoutExtra(message: ChatMessage): ChatMessage {
  if (!hasExtra(message)) return message
  return { ...message, tool_calls: message.tool_calls!.map(({ extra_content: _, ...call }) => call as ToolCall) }
}

function leftOut(body: ChatRequest, { kind, cacheControl }: Profile): string[] {
  if (kind === 'translated') return []
  const unknown = kind === 'openai' ? NOT_OPENAI : [...NOT_OPENAI, ...HINTS]
  return unknown.filter((name) => body[name] !== undefined && !(name === 'cache_control' && cacheControl))
}

/** What to change in how a request asks the model to think. */
interface FittedThinking {
  readonly members: Readonly<Record<string, unknown>>
  readonly removed: readonly string[]
  readonly dropped: readonly string[]
}

const SAME: FittedThinking = { members: {}, removed: [], dropped: [] }

/** A number of tokens as each member has it. Sources: as the facts of `openai-compatible`. */
const BUDGETS: Readonly<Record<BudgetMember, (tokens: number) => Readonly<Record<string, unknown>>>> = {
  thinking: (tokens) => ({ thinking: { type: 'enabled', budget_tokens: tokens } }),
  reasoning: (tokens) => ({ reasoning: { max_tokens: tokens } }),
  thinking_budget: (tokens) => ({ thinking_budget: tokens }),
  reasoning_budget: (tokens) => ({ reasoning_budget: tokens }),
  thinking_token_budget: (tokens) => ({ thinking_token_budget: tokens }),
}

/** Models that take a number of tokens get it; for the others the nearest effort stands for it, by which they may think for longer. */
function toThinking(body: ChatRequest, profile: Profile, effortIsHint = false): FittedThinking {
  const { budget: tokens, effort } = readThinking(body) ?? {}
  if (tokens !== undefined && profile.budget !== undefined) {
    const hasBoth = profile.kind !== 'translated' && body.reasoning_effort != null
    return toBudget(tokens, profile.budget, hasBoth)
  }
  const isHint = effortIsHint || tokens !== undefined || effort === 'none'
  const fitted = isHint ? fittedEffort(effort, profile) : effort
  if (fitted === (body.reasoning_effort ?? undefined) && tokens === undefined) return SAME
  return {
    members: fitted === undefined ? {} : { reasoning_effort: fitted },
    removed: fitted === undefined ? ['thinking', 'reasoning_effort'] : ['thinking'],
    dropped: tokens !== undefined ? ['thinking'] : fitted === undefined ? ['reasoning_effort'] : [],
  }
}

/** `hasBoth`: the request also has an effort, which the number replaces. */
function toBudget(
  tokens: number,
  { by, switch: on, least = tokens, most = tokens }: BudgetHint,
  hasBoth: boolean,
): FittedThinking {
  const nearest = Math.min(Math.max(tokens, least), most)
  if (by === 'thinking' && nearest === tokens && !hasBoth) return SAME
  const members = { ...(on && { [on]: true }), ...BUDGETS[by](nearest) }
  const removed = by === 'thinking' ? ['reasoning_effort'] : ['thinking', 'reasoning_effort']
  return { members, removed, dropped: nearest === tokens ? [] : ['thinking'] }
}

/** The nearest effort that the model takes and that is not more than asked; undefined if there is none. */
function fittedEffort(asked: ChatRequest['reasoning_effort'], { efforts }: Profile): string | undefined {
  if (asked == null || efforts.includes(asked)) return asked ?? undefined
  const known = asked === 'none' ? [] : ORDER.slice(1, ORDER.indexOf(asked) + 1)
  return known.findLast((level) => efforts.includes(level))
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
