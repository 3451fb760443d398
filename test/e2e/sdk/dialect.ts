import type { OpenAI } from 'openai'

/** The content of a reply, each text in the pieces in which it is streamed. */
export interface Said {
  readonly thinking?: readonly string[]
  readonly text?: readonly string[]
  readonly tools?: readonly { readonly id: string; readonly name: string; readonly arguments: readonly string[] }[]
}

/** The usage of every reply in both dialects, in OpenAI's terms. */
export const USED = { prompt: 12, cached: 4, completion: 7, reasoning: 3, total: 19 }

/** The wire format of one kind of upstream. */
export interface Dialect {
  /** How the gateway handles its replies. */
  readonly name: 'passed through' | 'translated'
  readonly namespace: 'open' | 'claude'
  /** The upstream's name of the model. */
  readonly model: string
  /** The id in its replies. */
  readonly replyId: string
  /** Its API key, which no client may see. */
  readonly apiKey: string
  /** The path of its completion endpoint. */
  readonly path: string
  /** The body of a whole reply. */
  whole(said: Said): object
  /** The events of a whole stream, with the end marker. */
  events(said: Said): readonly string[]
  /** The error event of a stream. */
  errorEvent(message: string): string
  /** The body of a reply with an error status. */
  error(status: number, message: string): object
}

/** A chat completion request for a dialect's model. */
export function ask<More extends object>(dialect: Dialect, more?: More) {
  const messages: OpenAI.ChatCompletionMessageParam[] = [{ role: 'user', content: 'Hello' }]
  return { model: modelOf(dialect), messages, ...(more as More) }
}

/** The model id that clients use. */
export const modelOf = ({ namespace, model }: Dialect): string => `${namespace}/${model}`

/** The events up to the first that contains the mark, that one included, and those after it. */
export function splitAfter(events: readonly string[], mark: string): [begin: readonly string[], rest: readonly string[]] {
  const index = events.findIndex((event) => event.includes(mark))
  if (index < 0) throw new Error(`no event contains ${mark}`)
  return [events.slice(0, index + 1), events.slice(index + 1)]
}
