import { isRecord } from './json.ts'
import type { Translator, UpstreamEvent } from './plugin.ts'
import { refusalOf, UpstreamError } from './refusals.ts'
import type { TranslatedChunk, TranslatedCompletion } from './translated.ts'

/** Changes to the replies of one attempt, each the result of the one before. */
export interface ReplySteps {
  readonly stream?: readonly ((chunk: TranslatedChunk) => TranslatedChunk)[]
  readonly completion?: readonly ((completion: TranslatedCompletion) => TranslatedCompletion)[]
}

/** The translator of an upstream that speaks OpenAI's protocol, with changes to its replies. Unknown members are kept. */
export function openaiTranslator({ stream = [], completion: whole = [] }: ReplySteps = {}): Translator {
  let over = false
  return {
    completion: (body) => whole.reduce((completion, step) => step(completion), readCompletion(body)),
    event({ data }: UpstreamEvent) {
      const text = data.trim()
      over ||= text === '[DONE]'
      if (text === '' || over) return []
      return [stream.reduce((chunk, step) => step(chunk), readChunk(text))]
    },
    get over() {
      return over
    },
  }
}

/** Reads a chunk, and checks the members that core uses. */
function readChunk(data: string): TranslatedChunk {
  const { choices = [], usage, ...rest } = readObject(JSON.parse(data))
  return {
    ...rest,
    choices: readList(choices).map((choice) => ({ ...choice, ...(isRecord(choice.delta) ? {} : { delta: {} }) })),
    ...(isRecord(usage) && { usage }),
  } as TranslatedChunk
}

function readCompletion(body: unknown): TranslatedCompletion {
  const { choices, usage, ...rest } = readObject(body)
  const list = readList(choices)
  if (list.length === 0 || !list.every(({ message }) => isRecord(message))) throw new Error('a completion without messages')
  return { ...rest, choices: list, ...(isRecord(usage) && { usage }) } as unknown as TranslatedCompletion
}

/** Throws `UpstreamError` for an object with an `error`. Google's is in an array. */
function readObject(json: unknown): Readonly<Record<string, unknown>> {
  const value: unknown = Array.isArray(json) ? json[0] : json
  if (!isRecord(value)) throw new Error('not a JSON object')
  if (value.error != null) throw new UpstreamError(refusalOf(value))
  return value
}

function readList(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  if (!Array.isArray(value) || !value.every(isRecord)) throw new Error('choices that are not a list of objects')
  return value
}
