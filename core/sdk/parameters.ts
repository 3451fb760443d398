import { type TSchema, Type } from 'typebox'
import { GatewayError } from '../errors.ts'
import { matchesGlob } from '../text/glob.ts'
import type { ChatMessage, ChatRequest, ChatTool, ContentPart } from './chat.ts'

/** How a provider supports a chat parameter. */
export type ParameterSupport =
  | { readonly support: 'mapped'; readonly to: string }
  /** The upstream does not get it: the provider's translator applies it to the reply. */
  | { readonly support: 'applied' }
  /** Harmless to omit: named in `x-umg-params-dropped`. */
  | { readonly support: 'dropped' }
  /** Omitting it would change the meaning: 400 `unsupported_parameter`. */
  | { readonly support: 'refused'; readonly why?: string }

/** A parameter that is sent; `to`: the upstream's name for it. For a table: `{ temperature: mapped('creativity'), seed: dropped }`. */
export const mapped = (to: string): ParameterSupport => ({ support: 'mapped', to })

/** A parameter that the translator applies to the reply. */
export const applied: ParameterSupport = { support: 'applied' }

/** A parameter that is omitted. */
export const dropped: ParameterSupport = { support: 'dropped' }

/** A parameter that is refused; `why`: a sentence that says what to do instead. */
export const refused = (why: string): ParameterSupport => ({ support: 'refused', why })

const NO_SOUND = refused('This provider gives no sound; ask for text.')

/**
 * The parameters that few upstreams but OpenAI take. A provider's table ends with it: `{ …, ...onlyOpenai }`; a parameter that the
 * upstream does take follows it.
 */
export const onlyOpenai: Readonly<Record<string, ParameterSupport>> = {
  verbosity: dropped,
  prediction: dropped,
  service_tier: dropped,
  store: dropped,
  metadata: dropped,
  user: dropped,
  safety_identifier: dropped,
  prompt_cache_key: dropped,
  prompt_cache_retention: dropped,
  prompt_cache_options: dropped,
  modalities: refused('This provider gives text only.'),
  audio: NO_SOUND,
  web_search_options: refused('This provider does not search the web.'),
  moderation: refused('This provider does not moderate.'),
  'messages.name': dropped,
  'messages.images': dropped,
  'image_url.detail': dropped,
  'tools.strict': dropped,
  prompt_cache_breakpoint: dropped,
}

/** Values without an effect: a parameter with one of them counts as absent. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  n: 1,
  logprobs: false,
  top_logprobs: 0,
  store: false,
  frequency_penalty: 0,
  presence_penalty: 0,
  parallel_tool_calls: true,
  // The SDK's tool loop always sends it.
  tool_choice: 'auto',
  service_tier: 'auto',
}

/** Whether a parameter of a request has a value without an effect, such as `n: 1`: it counts as absent. */
export const asksForNothing = (name: string, value: unknown): boolean =>
  value == null ||
  value === NEUTRAL[name] ||
  (name === 'modalities' && Array.isArray(value) && value.every((entry) => entry === 'text')) ||
  (name === 'logit_bias' && Object.keys(value as object).length === 0) ||
  (name === 'response_format' && (value as { readonly type?: unknown }).type === 'text')

/**
 * The parameters inside messages and tools that a table drops: `messages.name`, `messages.images` (pictures of earlier answers), `image_url.detail`,
 * `tools.strict`, `prompt_cache_breakpoint`, and the `cache_control` of parts, tools and tool calls. A table lists them together with those of the request itself;
 * a provider names them in `dropped` of its upstream request.
 */
export function droppedInside(
  { messages, tools }: Readonly<ChatRequest>,
  table: Readonly<Record<string, ParameterSupport>>,
): readonly string[] {
  const found = new Set<string>()
  for (const message of messages) noteMessage(message, found)
  for (const tool of tools ?? []) noteTool(tool, found)
  return [...found].filter((name) => table[name]?.support !== 'mapped')
}

function noteMessage(message: ChatMessage, found: Set<string>): void {
  const { role, name, content, tool_calls: calls } = message
  if (hasMadePictures(message)) found.add('messages.images')
  // A tool's result is the tool's by the id of its call.
  if (name && role !== 'tool') found.add('messages.name')
  for (const call of calls ?? []) noteMarks(call, found)
  if (!Array.isArray(content)) return
  for (const part of content) {
    noteMarks(part, found)
    if (part.type === 'image_url' && (part.image_url.detail ?? 'auto') !== 'auto') found.add('image_url.detail')
  }
}

const isPicture = ({ type }: ContentPart): boolean => type === 'image_url'

/** Whether a message has pictures that a model has made: as its reply had them, or as parts. */
export const hasMadePictures = ({ role, content, images }: ChatMessage): boolean =>
  role === 'assistant' && (images != null || (Array.isArray(content) && content.some(isPicture)))

/** An assistant's message without its pictures; the same one if it has none. */
export function withoutPictures(message: ChatMessage): ChatMessage {
  if (!hasMadePictures(message)) return message
  const { images: _, ...rest } = message
  return Array.isArray(rest.content) ? { ...rest, content: rest.content.filter((part) => !isPicture(part)) } : rest
}

/** An assistant's message whose pictures are all `images`, as models write them; the same one if it has no other. */
export function withPicturesBeside(message: ChatMessage): ChatMessage {
  const { role, content, images } = message
  if (role !== 'assistant' || !Array.isArray(content) || !content.some(isPicture)) return message
  const made = [...(Array.isArray(images) ? images : []), ...content.filter(isPicture)]
  return { ...message, content: content.filter((part) => !isPicture(part)), images: made }
}

function noteTool(tool: ChatTool, found: Set<string>): void {
  noteMarks(tool, found)
  if (tool.type === 'function' && tool.function.strict === true) found.add('tools.strict')
}

const MARKS = ['cache_control', 'prompt_cache_breakpoint'] as const

function noteMarks(part: object, found: Set<string>): void {
  for (const mark of MARKS) if ((part as Readonly<Record<string, unknown>>)[mark] != null) found.add(mark)
}

/**
 * 400 for a value that OpenAI takes and this upstream does not. `param`: its path in the client's body, `messages[0].content`. `hint`: a
 * sentence that says what to do instead.
 */
export function unsupportedParameter(param: string, hint: string): GatewayError {
  return new GatewayError('unsupported_parameter', { param, values: { detail: ` ${hint}` } })
}

/** 400 for a value that OpenAI would not take either. `detail` completes "Invalid value for 'param': …". */
export function invalidValue(param: string, detail: string): GatewayError {
  return new GatewayError('invalid_value', { param, values: { detail } })
}

/** Facts about models, by globs of their upstream names: data that changes monthly, and that an operator may extend. */
export type FactsByModel<Facts extends object> = Readonly<Record<string, Partial<Facts>>>

/** The option `facts` of a config, by which an operator extends the facts about models. `row`: the schema of the facts about one model. */
export function factsOption<Row extends TSchema>(row: Row) {
  const description = 'What models take, by globs of their names: overrides the facts that ship with the gateway.'
  return Type.Optional(Type.Record(Type.String(), row, { description }))
}

/**
 * The facts about one model. `tables` are in order of precedence: the operator's before the one that ships. Within a table each fact
 * comes from the first row that matches the model and has the fact; a fact that no row has comes from `otherwise`.
 */
export function modelFacts<Facts extends object>(model: string, tables: readonly FactsByModel<Facts>[], otherwise: Facts): Facts {
  const rows: Partial<Facts>[] = []
  for (const table of tables) {
    for (const glob in table) if (matchesGlob(glob, model)) rows.push(table[glob]!)
  }
  return Object.assign({}, otherwise, ...rows.reverse())
}
