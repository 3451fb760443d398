import { isRecord } from './json.ts'
import { readDeltas, readMessages, withKnownFinish } from './openai-shapes.ts'
import type { Translator, UpstreamEvent } from './plugin.ts'
import { refusalOf, UpstreamError } from './refusals.ts'
import type { TranslatedChunk, TranslatedCompletion } from './translated.ts'

/** Changes to the replies of one attempt, each the result of the one before. */
export interface ReplySteps {
  readonly stream?: readonly ((chunk: TranslatedChunk) => TranslatedChunk)[]
  readonly completion?: readonly ((completion: TranslatedCompletion) => TranslatedCompletion)[]
}

/**
 * The translator of an upstream that speaks OpenAI's protocol, with changes to its replies. Unknown members are kept. What is not OpenAI's shape is
 * read if it has one meaning, and is an Error otherwise.
 */
export function openaiTranslator({ stream = [], completion: whole = [] }: ReplySteps = {}): Translator {
  let over = false
  return {
    completion: (body) => finished(whole.reduce((completion, step) => step(completion), readCompletion(body))),
    event({ data }: UpstreamEvent) {
      const text = data.trim()
      over ||= text === '[DONE]'
      if (text === '' || text === 'null' || over) return []
      return [finished(stream.reduce((chunk, step) => step(chunk), readChunk(text)))]
    },
    get over() {
      return over
    },
    usage: (body) => firstOf(body)?.usage,
  }
}

/** Vendors' own finish reasons come last: a step may know better what one means. */
function finished<Reply extends TranslatedChunk | TranslatedCompletion>(reply: Reply): Reply {
  if (reply.choices.every(({ finish_reason }) => finish_reason == null)) return reply
  return { ...reply, choices: reply.choices.map(withKnownFinish) }
}

function readChunk(data: string): TranslatedChunk {
  const { id, choices, usage, ...rest } = readObject(JSON.parse(data))
  return { ...rest, ...members(id, usage), choices: readDeltas(choices) }
}

function readCompletion(body: unknown): TranslatedCompletion {
  const { id, choices, usage, ...rest } = readObject(body)
  return { ...rest, ...members(id, usage), choices: readMessages(choices) } as unknown as TranslatedCompletion
}

/** Those that have the right type. */
const members = (id: unknown, usage: unknown) => ({ ...(typeof id === 'string' && { id }), ...(isRecord(usage) && { usage }) })

/** The object; Google's errors are in an array. Undefined for anything else. */
function firstOf(json: unknown): Readonly<Record<string, unknown>> | undefined {
  const value: unknown = Array.isArray(json) ? json[0] : json
  return isRecord(value) ? value : undefined
}

/** Throws `UpstreamError` for an object with an `error`. */
function readObject(json: unknown): Readonly<Record<string, unknown>> {
  const value = firstOf(json)
  if (value === undefined) throw new Error('not a JSON object')
  if (value.error != null) throw new UpstreamError(refusalOf(value))
  return value
}
