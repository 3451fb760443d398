/**
 * Tools of chat completions in other forms than functions: custom tools, and functions in the way before tools. For upstreams that know function tools
 * only they become these, and the client gets its own forms back.
 */
import type {
  Call,
  ChatChunk,
  ChatCompletion,
  ChatDelta,
  ChatMessage,
  ChatRequest,
  ChatTool,
  ChunkChoice,
  FinishReason,
  ReplyTransform,
  ToolCall,
  ToolCallDelta,
  ToolForm,
} from '../sdk/api.ts'
import { defineCallFunction } from '../sdk/call-function.ts'
import { isRecord, textOf } from '../sdk/json.ts'
import { invalidValue } from '../sdk/parameters.ts'
import { KeptText } from '../sdk/translated.ts'
import { ClientCall } from './call.ts'
import { argumentsOfInput, CUSTOM_PARAMETERS, customDescription, inputOfArguments } from './custom-tools.ts'
import type { ScannedObject } from './json.ts'
import type { FormedBody, JsonBody } from './json-body.ts'
import type { CallWorkers } from './translation.ts'

/** The names of tools whose calls the client gets back in its own form. */
type OwnTools = Readonly<Record<ToolForm, readonly string[]>>

interface FormedBytes extends Pick<FormedBody, 'dropped'> {
  readonly bytes: Uint8Array
  readonly own: OwnTools
}

/** A request in the forms that its upstream takes in addition to function tools. */
function toForms(body: Pick<JsonBody, 'value' | 'splice'>, takes: readonly ToolForm[]): FormedBytes {
  const { members, ...formed } = formedMembers(body.value, takes)
  return { ...formed, bytes: body.splice(members) }
}

/** The same for a worker thread. */
export const formedBytes = defineCallFunction(import.meta.url, 'formedBytes', (call, takes: readonly ToolForm[]) =>
  toForms(ClientCall.bodyOf(call), takes),
)

const keyOf = (takes: readonly ToolForm[]): string => takes.join()

/** The body for an upstream that takes these forms in addition to function tools. Throws `GatewayError` (400) for a tool without a name. */
export const formedBody = (body: JsonBody, takes: readonly ToolForm[]): FormedBody =>
  body.formed?.get(keyOf(takes)) ?? keep(body, takes, toForms(body, takes))

/** Makes the forms of a large call in a thread, before `formedBody` is called with any of `all`. */
export async function prepareForms(
  call: Call,
  body: JsonBody,
  all: Iterable<readonly ToolForm[]>,
  workers: CallWorkers,
): Promise<void> {
  for (const takes of all) {
    if (body.formed?.has(keyOf(takes))) continue
    const formed = await workers.compute(call, formedBytes, takes)
    const { bytes, scanned } = await workers.scan(asBuffer(formed.bytes), call.endpoint)
    keep(body, takes, { ...formed, bytes }, scanned)
  }
}

function keep(
  body: JsonBody,
  takes: readonly ToolForm[],
  { bytes, dropped, own }: FormedBytes,
  scanned?: ScannedObject,
): FormedBody {
  const formed = { body: body.replacedBy(asBuffer(bytes), scanned), dropped, reply: () => new OwnForms(own) }
  body.formed ??= new Map()
  body.formed.set(keyOf(takes), formed)
  return formed
}

const asBuffer = ({ buffer, byteOffset, byteLength }: Uint8Array): Buffer => Buffer.from(buffer, byteOffset, byteLength)

interface FormedMembers extends Pick<FormedBytes, 'dropped' | 'own'> {
  /** The members to replace, or by `undefined` to remove. */
  readonly members: Readonly<Record<string, unknown>>
}

function formedMembers(body: Readonly<ChatRequest>, takes: readonly ToolForm[]): FormedMembers {
  const adapts = { custom: !takes.includes('custom'), functions: !takes.includes('functions') }
  const tools = body.tools ?? []
  const custom = adapts.custom ? tools.filter((tool) => tool.type === 'custom') : []
  const offered = new Set(tools.map((tool) => (tool.type === 'custom' ? tool.custom?.name : tool.function?.name)))
  const old = adapts.functions ? ((body.functions ?? []) as readonly FunctionDefinition[]) : []
  // Of two with a name, vendors refuse the second: the tool stays.
  const functions = old.filter(({ name }) => !offered.has(name))
  const formed = tools.map((tool, index) =>
    adapts.custom && tool.type === 'custom' ? toFunction(tool, `tools[${index}]`) : tool,
  )
  const called = adapts.functions && body.tool_choice == null ? calledChoice(body.function_call) : undefined
  const choice = called || (adapts.custom && customChoice(body.tool_choice))
  const messages = toToolMessages(body.messages, adapts)
  return {
    members: {
      ...(messages && { messages }),
      ...(custom.length + functions.length > 0 && { tools: [...formed, ...functions.map(asTool)] }),
      ...(choice ? { tool_choice: choice } : {}),
      ...(adapts.functions && without(body, ['functions', 'function_call'])),
    },
    dropped: custom.some((tool) => grammarOf(tool) !== undefined) ? ['tools.custom.format'] : [],
    own: { custom: custom.map(({ custom: { name } }) => name), functions: functions.map(({ name }) => name) },
  }
}

type FunctionDefinition = Extract<ChatTool, { type: 'function' }>['function']
type CustomTool = Extract<ChatTool, { type: 'custom' }>

const asTool = (definition: FunctionDefinition): ChatTool => ({ type: 'function', function: definition })

const without = (body: Readonly<ChatRequest>, names: readonly string[]): Readonly<Record<string, undefined>> =>
  Object.fromEntries(names.filter((name) => Object.hasOwn(body, name)).map((name) => [name, undefined]))

function toFunction({ type: _, custom, ...rest }: CustomTool, path: string): ChatTool {
  if (textOf(custom?.name) === '') throw invalidValue(`${path}.custom.name`, 'expected the name of the tool')
  const { name, description } = custom
  const told = customDescription(description, grammarOf({ type: 'custom', custom }))
  return {
    ...rest,
    type: 'function',
    function: { name, ...(told !== '' && { description: told }), parameters: CUSTOM_PARAMETERS },
  }
}

function grammarOf({ custom: { format } }: CustomTool): Readonly<Record<string, unknown>> | undefined {
  return isRecord(format) && format.type === 'grammar' && isRecord(format.grammar) ? format.grammar : undefined
}

const named = (name: unknown) => ({ type: 'function' as const, function: { name: textOf(name) } })

/** The choice of a function in the way before tools. */
const calledChoice = (called: unknown): unknown => (isRecord(called) ? named(called.name) : called)

/** A choice of custom tools as one of functions; undefined if it names none. */
function customChoice(choice: ChatRequest['tool_choice']): unknown {
  if (!isRecord(choice)) return undefined
  if (choice.type === 'custom') return asFunction(choice)
  if (choice.type !== 'allowed_tools' || !isRecord(choice.allowed_tools)) return undefined
  const { allowed_tools: allowed } = choice
  if (!Array.isArray(allowed.tools)) return undefined
  return { ...choice, allowed_tools: { ...allowed, tools: allowed.tools.map(asFunction) } }
}

const asFunction = (tool: unknown): unknown =>
  isRecord(tool) && tool.type === 'custom' ? named(isRecord(tool.custom) ? tool.custom.name : undefined) : tool

/** The conversation with calls of function tools only; undefined if it has no others. */
function toToolMessages(
  messages: readonly ChatMessage[],
  adapts: Readonly<Record<ToolForm, boolean>>,
): readonly ChatMessage[] | undefined {
  /** The id of the last call in the way before tools: a result follows its call, and names no other. */
  let id = ''
  const formed = messages.map((message, index) => {
    const { role, function_call: called, tool_calls: calls } = message
    if (adapts.functions && role === 'function') return toResult(message, id)
    if (adapts.functions && role === 'assistant' && isRecord(called)) {
      // The same in every turn, for the caches of prompts.
      id = `call_${index}`
      return withCall(message, { ...named(called.name), id }, textOf(called.arguments))
    }
    const hasCustom = adapts.custom && role === 'assistant' && calls?.some(({ type }) => type === 'custom')
    return hasCustom ? { ...message, tool_calls: calls!.map(toFunctionCall) } : message
  })
  return formed.every((message, index) => message === messages[index]) ? undefined : formed
}

const toResult = ({ name: _, content, ...rest }: ChatMessage, id: string): ChatMessage => ({
  ...rest,
  role: 'tool',
  tool_call_id: id,
  content: content ?? '',
})

const withCall = (
  { function_call: _, ...rest }: ChatMessage,
  call: ReturnType<typeof named> & { readonly id: string },
  text: string,
): ChatMessage => ({
  ...rest,
  role: 'assistant',
  tool_calls: [{ ...call, function: { ...call.function, arguments: text || '{}' } }],
})

function toFunctionCall(call: ToolCall): ToolCall {
  if (call.type !== 'custom') return call
  const { custom, function: _, ...rest } = call
  return { ...rest, type: 'function', function: { name: custom.name, arguments: argumentsOfInput(custom.input) } }
}

/** How a call of a streamed reply reaches the client. */
interface OwnCall {
  /** `left`: the way before tools has one call a reply. */
  readonly form: ToolForm | 'left'
  /** Whether the client has its first part. */
  begun: boolean
  /** The arguments of a custom tool's function: its input can be read when they are complete. */
  text: string
}

/** Writes the calls of a reply in the forms of the client's tools. */
class OwnForms implements ReplyTransform {
  readonly #custom: ReadonlySet<string>
  readonly #functions: ReadonlySet<string>
  readonly #kept = new KeptText()
  /** By choice, the calls that have another form for the client, by their index. */
  readonly #calls = new Map<number, Map<number, OwnCall>>()

  constructor({ custom, functions }: OwnTools) {
    this.#custom = new Set(custom)
    this.#functions = new Set(functions)
  }

  completion(completion: ChatCompletion): ChatCompletion {
    return {
      ...completion,
      choices: completion.choices.map((choice) => {
        if (!isRecord(choice.message) || !Array.isArray(choice.message.tool_calls)) return choice
        const { tool_calls: listed, ...message } = choice.message
        const calls = listed.filter((call) => isRecord(call))
        const old = calls.find((call) => this.#formOf(call) === 'functions')
        const left = calls.filter((call) => this.#formOf(call) !== 'functions').map((call) => this.#toOwn(call))
        const own = { ...message, ...(old && { function_call: old.function }), ...(left.length > 0 && { tool_calls: left }) }
        return { ...choice, message: own, finish_reason: finishOf(choice.finish_reason, old !== undefined) }
      }),
    }
  }

  chunk(chunk: ChatChunk): ChatChunk | undefined {
    let isEmpty = chunk.choices.length > 0 && chunk.usage == null
    const choices = chunk.choices.map((choice) => {
      const own = this.#choice(choice)
      isEmpty &&= own !== choice && own.finish_reason == null && Object.keys(own.delta).length === 0
      return own
    })
    return isEmpty ? undefined : { ...chunk, choices }
  }

  #choice(choice: ChunkChoice): ChunkChoice {
    const { index = 0, delta, finish_reason: finish } = choice
    const parts: readonly ToolCallDelta[] =
      isRecord(delta) && Array.isArray(delta.tool_calls) ? delta.tool_calls.filter((part) => isRecord(part)) : NO_PARTS
    const known = this.#calls.get(index)
    if (parts.length === 0 && (known === undefined || finish == null)) return choice
    const calls = known ?? new Map<number, OwnCall>()
    this.#calls.set(index, calls)
    const { tool_calls: _, ...others } = delta ?? {}
    const written: ToolCallDelta[] = []
    let old: ToolCallDelta['function']
    for (const part of parts) {
      const call = this.#callOf(part, calls)
      if (call === undefined) written.push(part)
      else if (call.form === 'functions') old = joined(old, part.function)
      else if (call.form === 'custom') written.push(...this.#customPart(part, call))
    }
    if (finish != null) for (const [at, { form, text }] of calls) if (form === 'custom') written.push(inputPart(at, text))
    const own: ChatDelta = {
      ...others,
      ...(old !== undefined && { function_call: old }),
      ...(written.length > 0 && { tool_calls: written }),
    }
    const called = [...calls.values()].some(({ form }) => form === 'functions')
    if (finish != null) this.#calls.delete(index)
    return { ...choice, delta: own, finish_reason: finish == null ? finish : finishOf(finish, called) }
  }

  /** The call of a part; undefined if it is one of a function tool of the client. */
  #callOf(part: ToolCallDelta, calls: Map<number, OwnCall>): OwnCall | undefined {
    const at = part.index ?? 0
    const form = calls.has(at) ? undefined : this.#formOf(part)
    if (form !== undefined) {
      const isSecond = form === 'functions' && [...calls.values()].some((call) => call.form === form)
      calls.set(at, { form: isSecond ? 'left' : form, begun: false, text: '' })
    }
    return calls.get(at)
  }

  /** The first part of a call, with its name; the input follows in one piece. */
  #customPart({ function: called, ...rest }: ToolCallDelta, call: OwnCall): readonly ToolCallDelta[] {
    call.text += this.#kept.add(called?.arguments)
    if (call.begun) return NO_PARTS
    call.begun = true
    return [{ ...rest, type: 'custom', custom: { name: textOf(called?.name), input: '' } }]
  }

  #toOwn(call: ToolCall): ToolCall {
    if (call.type === 'custom' || this.#formOf(call) !== 'custom') return call
    const { function: called, ...rest } = call
    return { ...rest, type: 'custom', custom: { name: called.name, input: inputOfArguments(textOf(called.arguments)) } }
  }

  /** The form that a called function had for the client; undefined if it is a function tool. */
  #formOf(call: { readonly function?: { readonly name?: string } | undefined }): ToolForm | undefined {
    const name = call.function?.name
    if (name === undefined) return undefined
    if (this.#custom.has(name)) return 'custom'
    return this.#functions.has(name) ? 'functions' : undefined
  }
}

const NO_PARTS: readonly ToolCallDelta[] = []

/** Two parts of a called function as one. */
const joined = (first: ToolCallDelta['function'], second: ToolCallDelta['function']): ToolCallDelta['function'] => ({
  ...first,
  ...second,
  arguments: textOf(first?.arguments) + textOf(second?.arguments),
})

const inputPart = (index: number, text: string): ToolCallDelta => ({ index, custom: { input: inputOfArguments(text) } })

const finishOf = (finish: FinishReason, hasOldCall: boolean): FinishReason =>
  hasOldCall && finish === 'tool_calls' ? 'function_call' : finish
