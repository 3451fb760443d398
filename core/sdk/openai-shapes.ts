/**
 * Reads the choices of upstreams that speak OpenAI's protocol nearly as OpenAI does: shapes that have one meaning become OpenAI's, and any other
 * is an Error, so that another target answers instead of a reply with nothing in it (docs/decisions/shapes-of-replies.md).
 */
import { FINISH_REASONS, type FinishReason } from './chat.ts'
import { expectText, isRecord, textOf, unknownShape as unknown } from './json.ts'
import { refusalOf, UpstreamError, type UpstreamRefusal } from './refusals.ts'

type Members = Readonly<Record<string, unknown>>

/** The choices of a chunk; none if they are null. Throws an Error for an unknown shape, and `UpstreamError` for an error in a choice. */
export function readDeltas(choices: unknown): readonly Members[] {
  return readChoices(choices).map((choice) => {
    const { delta: sent, message, index, ...rest } = choice
    // Some servers send the whole message as the only chunk of a stream.
    const delta = sent ?? message
    if (index != null && !Number.isSafeInteger(index)) throw unknown('an index')
    if (delta == null) return { ...rest, index: index ?? 0 }
    const read = readMessage(delta)
    return read === sent && index !== null ? choice : { ...rest, index: index ?? 0, delta: read }
  })
}

/** The choices of a whole reply, at least one. Throws like `readDeltas`. */
export function readMessages(choices: unknown): readonly Members[] {
  const read = readChoices(choices).map((choice) => ({ ...choice, message: readMessage(choice.message ?? nothing(choice)) }))
  if (read.length === 0) throw unknown('a reply without choices')
  return read
}

function readChoices(choices: unknown): readonly Members[] {
  return listOf(choices, 'choices').map((choice) => {
    if (!isRecord(choice)) throw unknown('a choice')
    if (choice.error != null) throw new UpstreamError(refusalOf(choice))
    if (choice.finish_reason != null) expectText(choice.finish_reason, 'a finish_reason')
    return choice
  })
}

/** The message of a choice without one: the limit was reached, or a filter acted, before the answer began. */
function nothing({ finish_reason }: Members): Members {
  const meaning = FINISHES.get(textOf(finish_reason).toLowerCase())
  if (meaning === 'length' || meaning === 'content_filter') return {}
  throw unknown('a choice without a message')
}

/** Members of a message that are text. Some upstreams write them as lists of parts. */
const TEXTS = ['refusal', 'reasoning_content', 'reasoning'] as const

function readMessage(message: unknown): Members {
  if (!isRecord(message)) throw unknown('a message')
  const { content, tool_calls: calls } = message
  let read = message
  for (const name of TEXTS) if (Array.isArray(message[name])) read = { ...read, [name]: textIn(message[name]) }
  for (const name of TEXTS) if (read[name] != null) expectText(read[name], name)
  if (Array.isArray(content)) read = { ...read, ...readParts(content) }
  else if (content != null) expectText(content, 'a content')
  return calls == null ? read : { ...read, tool_calls: listOf(calls, 'tool_calls').map(readCall) }
}

/** What the parts of a content add to a message. */
interface Words {
  content: string
  refusal: string
  reasoning_content: string
  images: unknown[]
}

/** The parts of a content by type, with the vendors that send them. */
const PARTS: Readonly<Record<string, (part: Members, words: Words) => void>> = {
  text: ({ text }, words) => {
    words.content += textIn(text)
  },
  output_text: ({ text }, words) => {
    words.content += textIn(text)
  },
  refusal: ({ refusal }, words) => {
    words.refusal += textIn(refusal)
  },
  // Mistral: docs.mistral.ai/capabilities/reasoning
  thinking: ({ thinking }, words) => {
    words.reasoning_content += textIn(thinking)
  },
  // Databricks: docs.databricks.com, "Query reasoning models"
  reasoning: ({ text, summary }, words) => {
    words.reasoning_content += textIn(text ?? summary)
  },
  image_url: (part, words) => {
    words.images.push(part)
  },
  // Mistral: the numbers of sources. They are not text.
  reference: () => undefined,
}

function readParts(parts: readonly unknown[]): Members {
  const words: Words = { content: '', refusal: '', reasoning_content: '', images: [] }
  for (const part of parts) {
    if (part === null) continue
    if (!isRecord(part) || !Object.hasOwn(PARTS, String(part.type))) throw unknown('a part of a content')
    PARTS[String(part.type)]!(part, words)
  }
  const { content, refusal, reasoning_content, images } = words
  return {
    content,
    ...(refusal !== '' && { refusal }),
    ...(reasoning_content !== '' && { reasoning_content }),
    ...(images.length > 0 && { images }),
  }
}

/** A text, or the texts of a list of parts. */
function textIn(value: unknown): string {
  if (value == null) return ''
  if (Array.isArray(value)) return value.map((part) => textIn(isRecord(part) ? part.text : part)).join('')
  return expectText(value, 'a text')
}

/** A call of a tool, or a part of one. */
function readCall(call: unknown): Members {
  if (!isRecord(call)) throw unknown('a tool call')
  const { id, index, type, function: called, ...rest } = call
  if (index != null && !Number.isSafeInteger(index)) throw unknown('an index of a tool call')
  return {
    ...(index != null && { index }),
    ...(id != null && { id: typeof id === 'number' ? String(id) : expectText(id, 'an id of a tool call') }),
    ...(type != null && { type: expectText(type, 'a type of a tool call') }),
    ...(called != null && { function: readFunction(called) }),
    ...rest,
  }
}

function readFunction(called: unknown): Members {
  if (!isRecord(called)) throw unknown('a function of a tool call')
  const { name, arguments: given, ...rest } = called
  return {
    ...(name != null && { name: expectText(name, 'a name of a tool') }),
    // Text, which some servers forget to write as one.
    ...(given != null && { arguments: isRecord(given) ? JSON.stringify(given) : expectText(given, 'arguments') }),
    ...rest,
  }
}

/** What vendors write for OpenAI's finish reasons, or in which case there is no answer. Upper and lower case are the same. */
const FINISHES: ReadonlyMap<string, FinishReason | UpstreamRefusal> = new Map<string, FinishReason | UpstreamRefusal>([
  ...FINISH_REASONS.map((reason) => [reason, reason] as const),
  ['end', 'stop'],
  ['eos', 'stop'],
  ['end_turn', 'stop'],
  ['stop_sequence', 'stop'],
  ['tool_use', 'tool_calls'],
  ['max_tokens', 'length'],
  ['model_length', 'length'], // Mistral
  ['model_context_window_exceeded', 'length'], // Z.ai
  ['sensitive', 'content_filter'], // Z.ai
  ['safety', 'content_filter'], // Gemini
  ['error', { status: 502 }], // OpenRouter, Mistral
  ['network_error', { status: 503 }], // Z.ai
  ['insufficient_system_resource', { status: 503 }], // DeepSeek
])

/** An unknown reason is not known to mean that the answer is whole. */
const meaningOf = (reason: string): FinishReason | UpstreamRefusal => FINISHES.get(reason.toLowerCase()) ?? 'length'

/** A choice with OpenAI's finish reason. Throws `UpstreamError` for a reason that means that the generation failed. */
export function withKnownFinish<Choice extends { readonly finish_reason?: string | null }>(choice: Choice): Choice {
  const { finish_reason } = choice
  if (finish_reason == null || finish_reason === '') return choice
  const meaning = meaningOf(finish_reason)
  if (typeof meaning === 'object') throw new UpstreamError(meaning)
  return meaning === finish_reason ? choice : { ...choice, finish_reason: meaning }
}

/** A list without its nulls; null is an empty one. */
function listOf(value: unknown, what: string): readonly unknown[] {
  if (value == null) return []
  if (!Array.isArray(value)) throw unknown(what)
  return value.includes(null) ? value.filter((one) => one !== null) : value
}
