import { createHash } from 'node:crypto'
import type { ChatChunk, ChatCompletion, ReplyTransform } from '../sdk/api.ts'
import { isRecord } from '../sdk/json.ts'
import type { JsonBody } from './json-body.ts'

/**
 * The names of tools that every vendor takes: OpenAI and Bedrock 64 letters, digits, `_` and `-`; Gemini and Moonshot want a letter or `_` first
 * (platform.openai.com, "Function calling"; "ToolSpecification", Amazon Bedrock API reference; ai.google.dev, `FunctionDeclaration`).
 */
const FITTING = /^[A-Za-z_][\w-]{0,63}$/

const LENGTH = 64

/**
 * The name of a tool as vendors take it. One that is not taken keeps its beginning, and ends with a digest: each has a name of its own. `takes`: the
 * names that are taken. Default: those of every vendor.
 */
export function fittedName(name: string, takes = FITTING): string {
  if (name === '' || takes.test(name)) return name
  const digest = `_${createHash('sha256').update(name).digest('hex').slice(0, 10)}`
  const plain = name.replace(/[^\w-]/g, '_')
  return (/^[A-Za-z_]/.test(plain) ? plain : `_${plain}`).slice(0, LENGTH - digest.length) + digest
}

const FITTED = /_[\da-f]{10}$/

/** The names of a client's tools, by those that vendors have for them. */
export class ClientNames {
  readonly #names: () => readonly string[]
  #byFitted: ReadonlyMap<string, string> | undefined

  /** `names`: of the client's tools; called only for a reply with a name that may be a fitted one. */
  constructor(names: () => readonly string[]) {
    this.#names = names
  }

  /** The client's name of the tool that a model calls. */
  of(called: string): string {
    if (!FITTED.test(called)) return called
    this.#byFitted ??= new Map(this.#names().map((name) => [fittedName(name), name]))
    return this.#byFitted.get(called) ?? called
  }
}

/** A chat completion request whose tools have names that its upstream takes. */
export interface NamedBody {
  readonly body: JsonBody
  /** The client's names, by those that the upstream has for them. */
  readonly names: ReadonlyMap<string, string>
}

/** Where a request names a tool; a `#` stands for each index. */
const PLACES: ReadonlySet<string> = new Set([
  ...['tools.#', 'tool_choice', 'tool_choice.allowed_tools.tools.#', 'messages.#.tool_calls.#'].flatMap((place) => [
    `${place}.function.name`,
    `${place}.custom.name`,
  ]),
  'messages.#.function_call.name',
  'functions.#.name',
  'function_call.name',
])

/** The result of a tool may repeat its name. A message of the user has the name of the user there. */
const OF_MESSAGE = 'messages.#.name'

/** The request with other names for the tools whose names an upstream does not take; undefined if it takes all. `takes`: the names that it takes. */
export function withFittedNames(body: JsonBody, takes: RegExp): NamedBody | undefined {
  const unplain = body.unplainNames.filter(({ place, name }) => (PLACES.has(place) || place === OF_MESSAGE) && !takes.test(name))
  const names = new Map<string, string>()
  for (const { place, name } of unplain) if (place !== OF_MESSAGE) names.set(fittedName(name, takes), name)
  if (names.size === 0) return undefined
  const edits = unplain.flatMap(({ name, start, end }) => {
    const fitted = fittedName(name, takes)
    return names.has(fitted) ? [{ start, end, text: JSON.stringify(fitted) }] : []
  })
  return { body: body.rewritten(edits), names }
}

/** Gives the client its own names of the tools that a model calls. */
export const withOwnNames = (names: NamedBody['names']): ReplyTransform => ({
  chunk: (chunk): ChatChunk => ({
    ...chunk,
    choices: chunk.choices.map((choice) =>
      isRecord(choice.delta) ? { ...choice, delta: renamed(choice.delta, names) } : choice,
    ),
  }),
  completion: (completion): ChatCompletion => ({
    ...completion,
    choices: completion.choices.map((choice) =>
      isRecord(choice.message) ? { ...choice, message: renamed(choice.message, names) } : choice,
    ),
  }),
})

/** What is called, whole or a part of it, in each form of chat completions. */
const CALLED = ['function', 'custom', 'function_call'] as const

/** An answer, a part of one, or a call in it with the client's names. */
function renamed<Part extends object>(part: Part, names: NamedBody['names']): Part {
  const members = part as Readonly<Record<string, unknown>>
  const { tool_calls: calls } = members
  return {
    ...part,
    ...(Array.isArray(calls) && { tool_calls: calls.map((call) => (isRecord(call) ? renamed(call, names) : call)) }),
    ...Object.fromEntries(
      CALLED.flatMap((member) => {
        const called = members[member]
        const own = isRecord(called) && typeof called.name === 'string' ? names.get(called.name) : undefined
        return own === undefined ? [] : [[member, { ...(called as object), name: own }]]
      }),
    ),
  }
}
