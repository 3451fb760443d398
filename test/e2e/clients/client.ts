import type { PythonProcess } from '../../support/python-process.ts'
import { readText } from '../../support/sources.ts'
import type { PythonName } from './python-clients.ts'
import type { Protocol } from './vendors.ts'

/** Where a client finds the gateway: what its user sets, and all that the user sets. */
export interface Gateway {
  readonly url: string
  readonly key: string
  /** The SDKs of Python, where there is one that has them. */
  readonly pythons: ReadonlyMap<PythonName, PythonProcess>
}

/** A text with the tokens that it cost. */
export interface Answer {
  readonly text: string
  readonly input: number | undefined
  readonly output: number | undefined
}

/** What clients do for their users. */
export interface EveryTask {
  /** Two turns: asks, gets a text, asks again with both in the conversation, and gets another. */
  ask(gateway: Gateway, model: string): Promise<Answer>
  /** The same as streams. `pieces`: those of the second text, as they came. */
  stream(gateway: Gateway, model: string): Promise<Answer & { readonly pieces: readonly string[] }>
  /** Asks with a tool, `weather`, runs it as long as the model calls it, and gets the last text. */
  loop(gateway: Gateway, model: string): Promise<Looped>
  streamedLoop(gateway: Gateway, model: string): Promise<Looped>
  /** Asks for an object of the schema `Place`. */
  parse(gateway: Gateway, model: string): Promise<unknown>
  streamedParse(gateway: Gateway, model: string): Promise<unknown>
  /** Asks a model to think. */
  think(gateway: Gateway, model: string): Promise<Thought>
  streamedThink(gateway: Gateway, model: string): Promise<Thought>
  /** Counts the tokens of a prompt. */
  count(gateway: Gateway, model: string): Promise<number>
}

/** All of them but those for which a client has no way. */
export type Tasks<Lacking extends keyof EveryTask = never> = Omit<EveryTask, Lacking>

/** The end of a loop of tools. */
export interface Looped {
  readonly text: string
  /** The cities for which the client ran its tool. */
  readonly cities: readonly string[]
}

/** A text after a thought. */
export interface Thought {
  readonly thought: string
  readonly text: string
}

/** A client: the tasks for which it has a way. Another one is left out. */
export interface Client {
  readonly name: string
  readonly protocol: Protocol
  /** The version of Anthropic's API that it speaks. */
  readonly version?: Version
  /** Its folder in node_modules, by which its version is known. */
  readonly package?: string
  /** The Python that it needs. */
  readonly python?: PythonName
  /** Of a stream it adds up the tokens of message_start and message_delta, as if they were not the same ones; Anthropic's own too. */
  readonly miscounts?: true
  /** A newer major is among the clients too. */
  readonly isEarlier?: true
  readonly tasks: Partial<EveryTask> & Pick<EveryTask, 'stream'>
}

/** A version of Anthropic's Messages API: what clients name in the header `anthropic-version`. */
export type Version = '2023-06-01' | '2026-10-21'

/** What every client asks. */
export const QUESTION = 'How is the weather?'

/** What it asks next. */
export const NEXT = 'And tomorrow?'

/** The tool of every client. */
export const WEATHER = { name: 'weather', description: 'Tells the weather of a city.' } as const

/** What the tool says. */
export const weatherIn = (city: string): string => `Rain in ${city}`

/** A package in node_modules, by its folder: several majors of one have folders of their own. */
export const packageIn = (folder: string): { readonly name: string; readonly version: string } =>
  JSON.parse(readText(`node_modules/${folder}/package.json`))

/** A package and its major version: `openai 7`. */
export function titleOf(folder: string): string {
  const { name, version } = packageIn(folder)
  return `${name} ${version.split('.', 1)[0]}`
}
