/**
 * Formats that a model does not follow by itself: of the request a tool or an instruction is made, and the reply is read back into the text that the
 * client asked for (docs/decisions/answers-by-a-schema.md).
 */
import { GatewayError } from '../errors.ts'
import type { ChatDelta, ChatMessage, ChatRequest, ChatTool, ToolCall, ToolCallDelta, ToolChoice } from './chat.ts'
import { isRecord, parseRecord, textOf } from './json.ts'
import { JsonObjectText } from './json-object-text.ts'
import { unsupportedParameter } from './parameters.ts'
import type { Translator, UpstreamEvent } from './plugin.ts'
import { fitsSchema } from './schema-fit.ts'
import { KeptText, type TranslatedChoice, type TranslatedChunk, type TranslatedCompletion } from './translated.ts'

/** A `response_format` other than text. */
export type JsonFormat =
  | { readonly type: 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly name: string
      readonly description?: string
      readonly schema: Readonly<Record<string, unknown>>
      /** Whether the client wants each answer to fit. */
      readonly strict?: true
    }

/**
 * How a format is served that a model does not follow by itself: as the arguments of a tool that it must call, by an instruction, with or without
 * the upstream's own mode for objects, or not at all, because a required call is not an answer.
 */
export type FormatBy = 'tool' | 'object' | 'instruction' | 'nothing'

/** How a format is served, and the tools that the model may call beside it. */
export interface FormatPlan {
  readonly format: JsonFormat
  readonly by: FormatBy
  readonly tools: readonly ChatTool[]
  readonly mode: 'none' | 'auto' | 'required'
  /** Absent: all. */
  readonly names?: ReadonlySet<string> | undefined
}

type Schema = Readonly<Record<string, unknown>>

/** A request whose format is served by `plan`. Throws `GatewayError` (400) for a schema of anything but an object. */
export function formattedRequest(body: Readonly<ChatRequest>, plan: FormatPlan): Readonly<ChatRequest> {
  const { format, by } = plan
  const { response_format: _, ...rest } = body
  if (by === 'nothing') return rest
  if (by === 'tool' && format.type === 'json_schema') return { ...rest, ...withAnswerTool(format, plan) }
  const messages = instructed(body.messages, instructionOf(format))
  return { ...rest, messages, ...(by === 'object' && { response_format: { type: 'json_object' } }) }
}

const DESCRIPTION = 'Gives your answer to the user. Call it once, when you have all that the answer needs.'

/** The name of the tool whose arguments are the answer: none that the client has given a tool. */
function answerTool(tools: readonly ChatTool[]): string {
  const taken = new Set(tools.map((tool) => (tool.type === 'function' ? tool.function.name : tool.custom.name)))
  let name = 'answer'
  while (taken.has(name)) name += '_'
  return name
}

function withAnswerTool({ description, schema }: SchemaFormat, plan: FormatPlan): Pick<ChatRequest, 'tools' | 'tool_choice'> {
  const name = answerTool(plan.tools)
  const told = description === undefined ? DESCRIPTION : `${DESCRIPTION}\n\n${description}`
  const tool: ChatTool = { type: 'function', function: { name, description: told, parameters: objectSchema(schema) } }
  return { tools: [...plan.tools, tool], tool_choice: choiceWith(name, plan) }
}

/** The model must call a tool: one of those that it may call, or the one with its answer. */
function choiceWith(answer: string, { tools, mode, names }: FormatPlan): ToolChoice {
  if (mode === 'none' || tools.length === 0) return named(answer)
  if (names === undefined) return 'required'
  return { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [...names, answer].map(named) } }
}

const named = (name: string) => ({ type: 'function', function: { name } }) as const

type SchemaFormat = Extract<JsonFormat, { type: 'json_schema' }>

/** The schema with what its root refers to in place of the reference. Throws `GatewayError` (400) if it is not of an object. */
function objectSchema(schema: Schema): Record<string, unknown> {
  const { $ref, ...rest } = schema
  const [, place = '', name = ''] = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String($ref)) ?? []
  const places = schema[place]
  const target = isRecord(places) ? places[name] : undefined
  const root: Schema = isRecord(target) ? { ...rest, ...target } : schema
  const isObject = root.type === 'object' || (root.type === undefined && OBJECTS.some((keyword) => isObjectOf(root[keyword])))
  if (!isObject)
    throw unsupportedParameter('response_format.json_schema.schema', 'The answer must be an object: set `type` to it.')
  return { ...root }
}

const OBJECTS = ['properties', 'anyOf', 'oneOf', 'allOf']
const isObjectOf = (value: unknown): boolean => isRecord(value) || Array.isArray(value)

const INSTRUCTION = 'Answer with a single JSON object and nothing else: no words before or after it, and no code fence.'

function instructionOf(format: JsonFormat): string {
  if (format.type === 'json_object') return INSTRUCTION
  const { description, schema } = format
  const rules = `${INSTRUCTION} It must follow this JSON Schema:\n${JSON.stringify(objectSchema(schema))}`
  return description === undefined ? rules : `${rules}\n\n${description}`
}

/** The instruction after those at the beginning: what an upstream has cached of these stays the same. */
function instructed(messages: readonly ChatMessage[], content: string): ChatMessage[] {
  const found = messages.findIndex(({ role }) => role !== 'system' && role !== 'developer')
  const at = found === -1 ? messages.length : found
  return [...messages.slice(0, at), { role: 'system', content }, ...messages.slice(at)]
}

/** Reads the format back from the reply to `formattedRequest`. Throws `GatewayError` (502) for an answer that does not fit its schema. */
export function formattedReply(translator: Translator, { format, by, tools }: FormatPlan): Translator {
  if (by === 'nothing') return translator
  const tool = by === 'tool' ? answerTool(tools) : undefined
  const newAnswer = (): Answer => new Answer(tool, format.type === 'json_schema' ? format.schema : undefined)
  const answers = new Map<number, Answer>()

  function answerOf(index: number): Answer {
    const answer = answers.get(index) ?? newAnswer()
    answers.set(index, answer)
    return answer
  }
  const readChunk = (part: TranslatedChunk): TranslatedChunk => ({
    ...part,
    choices: part.choices.map((choice) => readChoice(choice, answerOf(choice.index ?? 0))),
  })

  return {
    completion: (body, headers) => readCompletion(translator.completion(body, headers), newAnswer),
    *event(event: UpstreamEvent) {
      for (const part of translator.event(event)) yield readChunk(part)
    },
    *end() {
      for (const part of translator.end?.() ?? []) yield readChunk(part)
    },
    get over() {
      return translator.over ?? false
    },
    get cut() {
      return translator.cut ?? false
    },
    usage: (body) => translator.usage?.(body),
    ...(translator.decoder && { decoder: () => translator.decoder!() }),
  }
}

function readChoice(choice: TranslatedChoice, answer: Answer): TranslatedChoice {
  const { delta, finish_reason: finish } = choice
  const { content, calls } = delta === undefined ? NOTHING : answer.read(delta)
  const ended = finish == null ? undefined : answer.end(finish)
  const text = content + (ended?.content ?? '')
  if (delta === undefined && text === '') return { ...choice, ...(ended && { finish_reason: ended.finish }) }
  const { content: _, tool_calls: __, ...others } = delta ?? {}
  return {
    ...choice,
    delta: { ...others, ...(text !== '' && { content: text }), ...(calls.length > 0 && { tool_calls: [...calls] }) },
    ...(ended && { finish_reason: ended.finish }),
  }
}

const NOTHING: Said = { content: '', calls: [] }

function readCompletion(completion: TranslatedCompletion, newAnswer: () => Answer): TranslatedCompletion {
  const choices = completion.choices.map((choice) => {
    const answer = newAnswer()
    const { content, tool_calls: calls, ...message } = choice.message
    const said = answer.read({ content: textOf(content), tool_calls: (calls ?? []).map((call, index) => ({ ...call, index })) })
    const ended = answer.end(choice.finish_reason)
    const text = said.content + ended.content
    const left = said.calls.map(({ index: _, ...call }) => call as ToolCall)
    const none = content === '' ? '' : null
    const read = { ...message, content: text === '' ? none : text, ...(left.length > 0 && { tool_calls: left }) }
    return { ...choice, message: read, finish_reason: ended.finish }
  })
  return { ...completion, choices }
}

/** What a client hears of a piece of a reply. */
interface Said {
  readonly content: string
  readonly calls: readonly ToolCallDelta[]
}

/** How a choice ends. */
interface Ended {
  readonly content: string
  readonly finish: string
}

/** The answer of one choice: the arguments of a tool, or the object in what the model writes. */
class Answer {
  readonly #tool: string | undefined
  readonly #schema: Schema | undefined
  /** Text outside the tool. */
  readonly #written = new JsonObjectText()
  readonly #kept = new KeptText()
  /** Before the first call, if a tool has the answer: of what it is a part is not known yet. */
  #held = ''
  /** What the client has of the answer. */
  #text = ''
  /** The index of the call that has the answer. */
  #call: number | undefined
  /** The indexes of further calls of its tool: only the first one counts. */
  readonly #repeated = new Set<number>()
  /** Whether the model calls the client's own tools. */
  #callsOthers = false
  #over = false

  /** `tool`: the one that has the answer; undefined if the model writes it. `schema`: undefined if any object will do. */
  constructor(tool: string | undefined, schema: Schema | undefined) {
    this.#tool = tool
    this.#schema = schema
  }

  read({ content, tool_calls: calls = [] }: ChatDelta): Said {
    let said = this.#say(textOf(content))
    const others: ToolCallDelta[] = []
    for (const call of calls) {
      if (this.#isAnswer(call)) {
        if (call.index === this.#call) said += this.#keep(textOf(call.function?.arguments))
        continue
      }
      if (!this.#callsOthers) said += this.#takeHeld()
      this.#callsOthers = true
      others.push(call)
    }
    return { content: said, calls: others }
  }

  /** Throws `GatewayError` if the answer does not fit. What was cut short, or refused, need not. */
  end(finish: string): Ended {
    if (this.#over) return { content: '', finish }
    this.#over = true
    const isWhole = finish !== 'length' && finish !== 'content_filter'
    if (this.#call !== undefined) {
      if (isWhole) this.#expectFit()
      return { content: '', finish: isWhole && !this.#callsOthers ? 'stop' : finish }
    }
    const held = this.#takeHeld()
    const content = this.#keep(this.#tool === undefined ? this.#written.end() : isWhole ? objectIn(held) : held)
    if (isWhole && !this.#callsOthers) this.#expectFit()
    return { content, finish }
  }

  #isAnswer({ index, function: { name } = {} }: ToolCallDelta): boolean {
    if (index === this.#call || this.#repeated.has(index)) return true
    if (this.#tool === undefined || name !== this.#tool) return false
    if (this.#call === undefined) {
      this.#call = index
      this.#held = ''
    } else this.#repeated.add(index)
    return true
  }

  #say(text: string): string {
    if (text === '') return ''
    if (this.#tool === undefined) return this.#keep(this.#written.push(text))
    // What it says beside its answer would not be JSON.
    if (this.#call !== undefined) return ''
    if (this.#callsOthers) return text
    this.#held += this.#kept.add(text)
    return ''
  }

  #keep(text: string): string {
    this.#text += this.#kept.add(text)
    return text
  }

  #takeHeld(): string {
    const held = this.#held
    this.#held = ''
    return held
  }

  #expectFit(): void {
    if (this.#schema === undefined) return
    const value = parseRecord(this.#text)
    if (value === undefined || !fitsSchema(value, this.#schema))
      throw new GatewayError('upstream_schema_mismatch', { param: 'response_format' })
  }
}

function objectIn(text: string): string {
  const object = new JsonObjectText()
  return object.push(text) + object.end()
}
