import type { ChatMessage, FinishReason } from 'unified-model-gateway/plugin'
import type { Pacing } from './pace.ts'
import { Refusal } from './refusal.ts'

/** The directives of a message's `sandbox:` lines (docs/sandbox.md). */
export interface Directives extends Pacing {
  /** The sandbox fails with this HTTP status. */
  readonly status?: number
  /** Seconds, with `status`. */
  readonly 'retry-after'?: number
  /** The answer is this number of numbers, one in each chunk. */
  readonly chunks?: number
  readonly finish?: FinishReason
  /** Names of the tools to call. */
  readonly tool?: readonly string[]
}

interface Reader<Value> {
  readonly expects: string
  /** Undefined for an invalid text. */
  readonly read: (text: string) => Value | undefined
}

const integer = (least: number, most: number): Reader<number> => ({
  expects: `a whole number from ${least} to ${most}`,
  read: (text) => (/^\d{1,9}$/.test(text) && Number(text) >= least && Number(text) <= most ? Number(text) : undefined),
})

const MAX_DURATION = 600_000

const duration: Reader<number> = {
  expects: 'a time such as 500ms or 2s, at most 600s',
  read(text) {
    const [, amount, unit] = /^(\d{1,6})(ms|s)$/.exec(text) ?? []
    const milliseconds = Number(amount) * (unit === 's' ? 1000 : 1)
    return milliseconds <= MAX_DURATION ? milliseconds : undefined
  },
}

const FINISHES: readonly FinishReason[] = ['stop', 'length', 'content_filter']

const MAX_TOOLS = 8

const MAX_DIRECTIVES = 100

/** All directives, by the names of `Directives`; a test compares them with docs/sandbox.md. */
export const DIRECTIVES: { readonly [Name in keyof Required<Directives>]: Reader<Required<Directives>[Name]> } = {
  status: integer(400, 599),
  'retry-after': integer(0, 86_400),
  delay: duration,
  interval: duration,
  chunks: integer(1, 10_000),
  cut: integer(0, 10_000),
  stall: integer(0, 10_000),
  finish: { expects: FINISHES.join(', '), read: (text) => FINISHES.find((reason) => reason === text) },
  tool: {
    expects: `names of at most ${MAX_TOOLS} tools, with commas between them`,
    read: (text) => (text.split(',').length <= MAX_TOOLS ? text.split(',') : undefined),
  },
}

/**
 * Removes the `sandbox: name=value …` lines from a message, and reads them. Lines with anything but `name=value` words are the user's own
 * text. Throws a `Refusal` for an unknown name or an invalid value. `param`: the request's field with the message.
 */
export function readDirectives(message: string, param = 'messages'): { readonly text: string; readonly directives: Directives } {
  if (!message.includes('sandbox:')) return { text: message, directives: {} }
  const directives: Record<string, unknown> = {}
  let count = 0
  const kept = message.split('\n').filter((line) => {
    const words = wordsOf(line.trim())
    count += words.length
    if (count > MAX_DIRECTIVES) throw new Refusal(param, `The sandbox takes ${MAX_DIRECTIVES} directives at most.`)
    for (const word of words) Object.assign(directives, readDirective(word, param))
    return words.length === 0
  })
  return { text: kept.join('\n'), directives }
}

/** The `name=value` words of a line; none if it has no directives. */
function wordsOf(line: string): readonly string[] {
  if (!line.startsWith('sandbox:')) return []
  const words = line.slice('sandbox:'.length).trim().split(/\s+/)
  return words.every((word) => /^[a-z-]+=/.test(word)) ? words : []
}

function readDirective(word: string, param: string): Directives {
  const name = word.slice(0, word.indexOf('='))
  if (!Object.hasOwn(DIRECTIVES, name)) {
    throw new Refusal(param, `The sandbox does not know '${name}'. It knows ${Object.keys(DIRECTIVES).join(', ')}.`)
  }
  const { read, expects } = DIRECTIVES[name as keyof Directives]
  const value = read(word.slice(name.length + 1))
  if (value === undefined) throw new Refusal(param, `sandbox: '${name}' must be ${expects}.`)
  return { [name]: value }
}

/** The parts of a conversation that the sandbox uses. */
export interface Prompt {
  /** The last user message, without its `sandbox:` lines. */
  readonly text: string
  readonly directives: Directives
  /** The text of the last message if it is a tool's result. */
  readonly toolResult?: string
}

/** Reads a conversation. Throws a `Refusal` for an unknown or invalid directive. */
export function readPrompt(messages: readonly ChatMessage[]): Prompt {
  const user = messages.findLast(({ role }) => role === 'user')
  const { text, directives } = readDirectives(user === undefined ? '' : messageText(user))
  const last = messages.at(-1)
  const isResult = last?.role === 'tool' || last?.role === 'function'
  return { text, directives, ...(isResult && { toolResult: messageText(last) }) }
}

/** The text of a message, without images, audio and files. */
export function messageText({ content }: ChatMessage): string {
  if (typeof content === 'string') return content
  return (content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join('')
}
