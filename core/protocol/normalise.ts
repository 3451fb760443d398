import { randomUUID } from 'node:crypto'
import type {
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  FunctionToolCall,
  ToolCall,
  ToolCallDelta,
  TranslatedChoice,
  TranslatedChunk,
  TranslatedCompletion,
  Usage,
} from '../sdk/api.ts'
import { FINISH_REASONS, type FinishReason } from '../sdk/chat.ts'
import { isRecord, textOf, unknownShape } from '../sdk/json.ts'
import { KeptText } from '../sdk/translated.ts'
import { isWhole, readUsage } from './usage.ts'
import { servedVariants, UsageReport } from './usage-report.ts'
import { DRAWN_TOKENS, soundTokens } from './written-text.ts'

/**
 * Builds OpenAI's stream from a translator's parts: constant id, created and model; the role once per choice; tool calls numbered
 * from 0 in order of appearance; one finish reason per choice, from the enum, sent after the upstream has ended; usage in its own
 * chunk, if requested (protocol: `CreateChatCompletionStreamResponse`).
 */
export class StreamNormaliser {
  readonly #model: string
  readonly #includeUsage: boolean
  /** Number of choices the client requested. */
  readonly #asked: number
  readonly #choices = new Map<number, ChoiceState>()
  /** Fields common to all chunks, in OpenAI's order. */
  #envelope: ChatChunk | undefined
  /** What is known of the tokens. */
  readonly report: UsageReport

  constructor(call: { readonly model: string; readonly includeUsage: boolean; readonly choices: number }) {
    this.#asked = call.choices
    this.report = new UsageReport(call)
    this.#model = call.model
    this.#includeUsage = call.includeUsage
  }

  /** Converts one part to chunks. */
  push(part: TranslatedChunk): readonly ChatChunk[] {
    this.#envelope ??= this.#begin(part.id || newId())
    const extras = extrasOf(part)
    const chunks: ChatChunk[] = []
    for (const choice of part.choices) this.#choice(choice, extras, chunks)
    // After the text that came with it.
    if (part.usage != null) {
      this.report.servedBy(servedVariants(part))
      this.report.read(part.usage)
    }
    return chunks
  }

  /** The chunks held back for the end. Undefined if a choice never finished: the stream was cut. */
  end(): ChatChunk[] | undefined {
    const chunks: ChatChunk[] = []
    for (const [index, state] of this.#choices) {
      const { finish, tools, extras, hasFunctionCall } = state
      if (finish === undefined) return undefined
      if (finish === 'stop' && state.isUnknown) throw unknownShape('an answer')
      expectCalls(finish, tools.length > 0 || hasFunctionCall)
      for (const call of tools) {
        if (call.waiting !== undefined) throw new Error(NAMELESS)
        if (call.empty && call.isPartial) throw unknownShape('a tool call')
        // A tool call without arguments: clients parse the concatenation, and '' is not JSON.
        const missing = { tool_calls: [{ index: call.index, function: { arguments: '{}' } }] }
        if (call.isFunction && call.empty) chunks.push(this.#chunk({ index, delta: missing, finish_reason: null }))
      }
      chunks.push(this.#chunk({ ...extras, index, delta: {}, finish_reason: finishOf(finish, tools.length > 0) }))
    }
    if (this.#choices.size < this.#asked) return undefined
    const { usage } = this.report
    if (isWhole(usage)) chunks.push(...this.usageChunk(usage))
    return chunks
  }

  /** The chunk of a usage, if the client asked for it. */
  usageChunk(usage: Usage): readonly ChatChunk[] {
    return this.#includeUsage ? [{ ...this.#envelope!, usage }] : []
  }

  #choice(choice: TranslatedChoice, extras: object | undefined, chunks: ChatChunk[]): void {
    const { index = 0, delta, finish_reason } = choice
    const state = this.#state(index)
    const cleaned = delta && state.read(delta)
    if (!state.hasAnswer) state.look(cleaned, delta === undefined && finish_reason == null)
    if (cleaned !== undefined) reportDelta(this.report, cleaned)
    if (!state.started) {
      state.started = true
      const opening = { index, delta: { role: 'assistant' as const, content: '' }, finish_reason: null }
      chunks.push(this.#chunk(opening, cleaned === undefined ? extras : undefined))
    }
    if (cleaned === undefined) Object.assign(state.extras, choice)
    else chunks.push(this.#chunk({ ...choice, index, delta: cleaned, finish_reason: null }, extras))
    if (finish_reason != null) state.finish ??= finish_reason
  }

  #state(index: number): ChoiceState {
    const known = this.#choices.get(index)
    if (known !== undefined) return known
    const state = new ChoiceState()
    this.#choices.set(index, state)
    return state
  }

  #begin(id: string): ChatChunk {
    const envelope: ChatChunk = { id, object: 'chat.completion.chunk', created: unixSeconds(), model: this.#model, choices: [] }
    return this.#includeUsage ? { ...envelope, usage: null } : envelope
  }

  /** `extras`: fields specific to this upstream. */
  #chunk(choice: ChatChunk['choices'][number], extras?: object): ChatChunk {
    return { ...extras, ...this.#envelope!, choices: [choice] }
  }
}

/** Tells a report what a delta has written, drawn and spoken. Members that only one vendor has may be text too. */
function reportDelta(report: UsageReport, delta: ChatDelta): void {
  let length = 0
  for (const key in delta) {
    const value = delta[key]
    if (typeof value === 'string') length += Buffer.byteLength(value)
    else if (key === 'tool_calls' && Array.isArray(value)) for (const part of value) length += writtenInCall(part)
    else if (key === 'images' && Array.isArray(value)) report.made('image_tokens', value.length * DRAWN_TOKENS)
    else if (key === 'audio') {
      const { data, transcript } = (value ?? {}) as { readonly data?: unknown; readonly transcript?: unknown }
      length += Buffer.byteLength(textOf(transcript))
      if (typeof data === 'string') report.made('audio_tokens', soundTokens(data))
    }
  }
  report.wrote(length)
}

const writtenInCall = (part: ToolCallDelta | null): number =>
  Buffer.byteLength(textOf(part?.function?.arguments)) + Buffer.byteLength(textOf(part?.custom?.input))

/** Fields of a part that OpenAI's chunks lack; nearly always none. */
function extrasOf(part: TranslatedChunk): object | undefined {
  let extras: Record<string, unknown> | undefined
  for (const key in part) {
    if (key === 'choices' || key === 'usage' || key === 'id') continue
    extras ??= {}
    extras[key] = part[key]
  }
  return extras
}

/** The members of a delta that answer, and those of what was thought before. */
const ANSWERS: ReadonlySet<string> = new Set(['content', 'refusal', 'tool_calls', 'function_call', 'audio', 'images'])
const THOUGHTS: ReadonlySet<string> = new Set(['reasoning_content', 'reasoning', 'thinking'])

class ChoiceState {
  started = false
  /** The upstream's finish reason. */
  finish: string | undefined
  /** Whether any of the answer has a name that is known. */
  hasAnswer = false
  /** Whether there was something under other names. */
  #isPartial = false
  /** Whether it calls a function in the way before tools. */
  hasFunctionCall = false
  /** Fields beside an empty delta: sent with the finish reason. */
  readonly extras: Record<string, unknown> = {}
  /** In order of appearance. */
  readonly tools: StreamedCall[] = []
  /** The last call at each index of the upstream. */
  readonly #byIndex = new Map<number, StreamedCall>()
  readonly #byId = new Map<string, StreamedCall>()
  /** The call that the last part belongs to. */
  #latest: StreamedCall | undefined
  readonly #kept = new KeptText()

  /** Whether there is something, and none of it has a name that is known: it may be the answer, which clients then miss. */
  get isUnknown(): boolean {
    return this.#isPartial && !this.hasAnswer
  }

  /** Looks for an answer in a delta. `isAbsent`: its choice has neither a delta nor a finish. */
  look(delta: ChatDelta | undefined, isAbsent: boolean): void {
    this.#isPartial ||= isAbsent
    for (const key in delta) {
      if (ANSWERS.has(key)) this.hasAnswer = true
      else if (typeof delta[key] === 'string' && !THOUGHTS.has(key)) this.#isPartial = true
    }
  }

  /** A delta's content, its tool calls renumbered for the client; undefined if it is empty. */
  read(delta: ChatDelta): ChatDelta | undefined {
    const cleaned = withoutEmpty(delta)
    this.hasFunctionCall ||= cleaned?.function_call !== undefined
    if (!Array.isArray(cleaned?.tool_calls)) return cleaned
    const parts = cleaned.tool_calls.flatMap((part) => (isRecord(part) ? this.#renumber(part) : [part]))
    if (parts.length > 0) return { ...cleaned, tool_calls: parts }
    const { tool_calls: _, ...rest } = cleaned
    return withoutEmpty(rest)
  }

  /** A part for the client; none as long as its call has no name, which clients take from the first part. */
  #renumber(part: ToolCallDelta): readonly ToolCallDelta[] {
    const known = this.#find(part)
    const call = known ?? {
      index: this.tools.length,
      isFunction: isFunction(part),
      id: '',
      empty: true,
      isPartial: false,
      waiting: {},
    }
    if (known === undefined) this.tools.push(call)
    this.#latest = call
    if (part.index != null) this.#byIndex.set(part.index, call)
    if (part.id && call.id === '') {
      call.id = part.id
      this.#byId.set(part.id, call)
    }
    if (!call.isFunction) {
      call.waiting = undefined
      return [{ ...part, index: call.index }]
    }
    const text = part.function?.arguments ?? ''
    if (text !== '') call.empty = false
    else call.isPartial ||= lacksArguments(part.function)
    return call.waiting === undefined ? [continued(part, call.index, text)] : this.#begin(part, call, call.waiting)
  }

  #begin(part: ToolCallDelta, call: StreamedCall, { arguments: before = '', ...waiting }: WaitingPart): readonly ToolCallDelta[] {
    const { function: called, ...rest } = part
    const text = before + (called?.arguments ?? '')
    if (!called?.name) {
      this.#kept.add(called?.arguments)
      call.waiting = { ...waiting, ...rest, arguments: text }
      return []
    }
    call.waiting = undefined
    const id = call.id === '' ? {} : { id: call.id }
    return [{ ...waiting, ...rest, ...id, index: call.index, type: 'function', function: { ...called, arguments: text } }]
  }

  /** Undefined for a new call: at a new index or id, or with another id and a name at the index of a call. */
  #find({ index, id, function: called }: ToolCallDelta): StreamedCall | undefined {
    if (index == null) return id ? this.#byId.get(id) : this.#latest
    const at = this.#byIndex.get(index)
    if (at === undefined || !id || at.id === '' || at.id === id) return at
    // vLLM 0.6 gives each part of a call an id of its own, and only the first part a name: `DeltaToolCall` of its entrypoints/openai/protocol.py.
    return this.#byId.get(id) ?? (called?.name ? undefined : at)
  }
}

/** A later part. Clients concatenate: a repeated id or name would be doubled. Other fields are kept: one may be a signature. */
function continued(part: ToolCallDelta, index: number, text: string): ToolCallDelta {
  const { id: _, type: __, function: ___, ...rest } = part
  return { ...rest, index, function: { arguments: text } }
}

/** What came of a call before its name. */
type WaitingPart = Partial<Omit<ToolCallDelta, 'function'>> & { readonly arguments?: string }

/** A tool call of a stream. */
interface StreamedCall {
  readonly index: number
  /** False for custom tools and future kinds: their parts pass unchanged. */
  readonly isFunction: boolean
  /** The upstream's; '' if it has sent none so far. */
  id: string
  /** True if a function has no arguments so far. */
  empty: boolean
  /** Whether a member of an unknown name came in the place of arguments. */
  isPartial: boolean
  /** Undefined once the client has its first part. */
  waiting: WaitingPart | undefined
}

const NAMELESS = 'a tool call without a name'

/** Whether a function has no arguments, but members of unknown names: one of them may be the arguments. */
const lacksArguments = (called: object | null | undefined): boolean => {
  const { name: _, arguments: json, ...others } = (called ?? {}) as Readonly<Record<string, unknown>>
  return json == null && Object.keys(others).length > 0
}

/** Some vendors omit the type. */
const isFunction = ({ type, custom }: Pick<ToolCallDelta, 'type' | 'custom'>): boolean =>
  (type ?? (custom ? 'custom' : 'function')) === 'function'

/** Removes the role, which the gateway sets, and null or empty values. Most deltas need no change. */
function withoutEmpty(delta: ChatDelta): ChatDelta | undefined {
  let members = 0
  let empty = 0
  for (const key in delta) {
    members++
    if (!hasValue(delta, key)) empty++
  }
  if (empty === 0) return members === 0 ? undefined : delta
  return empty === members ? undefined : Object.fromEntries(Object.entries(delta).filter(([key]) => hasValue(delta, key)))
}

function hasValue(delta: ChatDelta, key: string): boolean {
  const value = delta[key]
  return key !== 'role' && value !== null && value !== undefined && value !== ''
}

/** Throws an Error for a finish that says that tools are called, where there is no call: an agent would wait for it, or take its work as done. */
function expectCalls(reason: string, hasCalls: boolean): void {
  if (reason === 'tool_calls' && !hasCalls) throw new Error('a finish for tool calls without a call')
}

/** Some upstreams report `stop` with a tool call; clients run the tool only on `tool_calls`. */
function finishOf(reason: string, calledTools: boolean): FinishReason {
  const known = (FINISH_REASONS as readonly string[]).includes(reason) ? (reason as FinishReason) : 'stop'
  return known === 'stop' && calledTools ? 'tool_calls' : known
}

const newId = (): string => `chatcmpl-${randomUUID()}`

const unixSeconds = (): number => Math.floor(Date.now() / 1000)

/** Builds OpenAI's completion from a translator's: adds the required fields and the requested model. */
export function normaliseCompletion(translated: TranslatedCompletion, model: string): ChatCompletion {
  const { choices, usage: reported, ...rest } = translated
  for (const { message, finish_reason } of choices)
    expectCalls(finish_reason, (message.tool_calls?.length ?? 0) > 0 || message.function_call != null)
  const usage = readUsage(reported)
  return {
    ...rest,
    id: translated.id || newId(),
    object: 'chat.completion',
    created: unixSeconds(),
    model,
    choices: choices.map(({ message, finish_reason, ...others }, index) => ({
      logprobs: null,
      ...others,
      index,
      message: {
        ...message,
        role: 'assistant',
        content: message.content ?? null,
        refusal: message.refusal ?? null,
        ...(Array.isArray(message.tool_calls) && { tool_calls: message.tool_calls.map(wholeCall) }),
      },
      finish_reason: finishOf(finish_reason, (message.tool_calls?.length ?? 0) > 0),
    })),
    ...(isWhole(usage) && { usage }),
  }
}

/**
 * Mistral omits the type, and the SDK throws if it is absent. Arguments are a JSON text, which '' is not. A call that is not
 * a function call passes unchanged. Throws an Error for a call without a name.
 */
function wholeCall(call: ToolCall): ToolCall {
  if (!isRecord(call) || !isFunction(call)) return call
  const { function: called, ...rest } = call as FunctionToolCall
  if (!isRecord(called) || textOf(called.name) === '') throw new Error(NAMELESS)
  if (lacksArguments(called)) throw unknownShape('a tool call')
  return { ...rest, type: 'function', function: { ...called, arguments: called.arguments || '{}' } }
}
