import type { PythonProcess } from '../../support/python-process.ts'
import type { RequirementName } from '../../support/requirements.ts'
import type { Protocol } from './vendors.ts'

/** Where a client finds the gateway: what its user sets, and all that the user sets. */
export interface Gateway {
  readonly url: string
  readonly key: string
  /** The SDKs of Python, where there is one. */
  readonly python: PythonProcess | undefined
}

/** A text with the tokens that it cost. */
export interface Answer {
  readonly text: string
  readonly input: number | undefined
  readonly output: number | undefined
}

/** What a client does for its user. */
export interface Tasks {
  /** Asks, and gets a text. */
  ask(gateway: Gateway, model: string): Promise<Answer>
  /** The same as a stream, in the pieces in which it came. */
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
  /** What it needs beside npm. */
  readonly needs?: RequirementName
  /** Of a stream it adds up the tokens of message_start and message_delta, as if they were not the same ones; Anthropic's own too. */
  readonly miscounts?: true
  readonly tasks: Partial<Tasks> & Pick<Tasks, 'stream'>
}

/** What every client asks. */
export const QUESTION = 'How is the weather?'

/** The tool of every client. */
export const WEATHER = { name: 'weather', description: 'Tells the weather of a city.' } as const

/** What the tool says. */
export const weatherIn = (city: string): string => `Rain in ${city}`
