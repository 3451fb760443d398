import type { FinishReason } from 'unified-model-gateway/plugin'
import { Refusal } from './refusal.ts'

/** What the `sandbox:` lines of a message ask for (docs/sandbox.md). */
export interface Directives {
  /** The upstream refuses with this HTTP status. */
  readonly status?: number
  /** Seconds, beside `status`. */
  readonly 'retry-after'?: number
  /** Milliseconds before the first byte. */
  readonly delay?: number
  /** Milliseconds between two chunks. */
  readonly interval?: number
  /** The answer is so many numbers, one a chunk. */
  readonly chunks?: number
  /** The connection dies after so many chunks. */
  readonly cut?: number
  /** Nothing comes any more after so many chunks. */
  readonly stall?: number
  readonly finish?: FinishReason
  /** Names of the tools to call. */
  readonly tool?: readonly string[]
}

interface Reader<Value> {
  readonly expects: string
  /** Undefined where the text is not such a value. */
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

/** The directives that there are. The names are those of `Directives`, and a test compares them with docs/sandbox.md. */
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
 * Takes the `sandbox: name=value …` lines out of a message. A line that begins so but holds anything else than `name=value` words is
 * the user's own text. Throws a `Refusal` for a name that is unknown or a value that does not fit. `param`: where the text stands in the
 * request.
 */
export function readDirectives(
  message: string,
  param: 'messages' | 'input' = 'messages',
): { readonly text: string; readonly directives: Directives } {
  if (!message.includes('sandbox:')) return { text: message, directives: {} }
  const directives: Record<string, unknown> = {}
  let count = 0
  const kept = message.split('\n').filter((line) => {
    const words = wordsOf(line.trim())
    count += words.length
    if (count > MAX_DIRECTIVES) throw new Refusal(param, `The sandbox takes ${MAX_DIRECTIVES} orders at most.`)
    for (const word of words) Object.assign(directives, readDirective(word, param))
    return words.length === 0
  })
  return { text: kept.join('\n'), directives }
}

/** The words of a line of directives; none where it is not one. */
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
