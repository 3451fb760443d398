import { readRefusal, type TranslatedChunk, type Translator, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import { createTranslator } from '../openai-compatible/reply.ts'

/**
 * OpenAI's format with the results of Azure's content filters. A stream begins with a chunk without choices, id and model that has the
 * filters' results for the prompt: they are sent to the client with the first chunk that has choices ("Content filtering",
 * learn.microsoft.com).
 */
export function createAzureTranslator(): Translator {
  const openai = createTranslator([])
  let results: Readonly<Record<string, unknown>> = {}

  function* read(chunk: TranslatedChunk): Generator<TranslatedChunk> {
    const { id, prompt_filter_results, ...rest } = chunk
    if (prompt_filter_results !== undefined) results = { prompt_filter_results }
    if (rest.choices.length === 0 && rest.usage === undefined) return
    yield { ...rest, ...(id && { id }), ...results }
    if (rest.choices.length > 0) results = {}
  }

  return {
    completion: (body) => openai.completion(body),
    *event(event) {
      for (const chunk of openai.event(event)) yield* read(chunk)
    },
    get over() {
      return openai.over === true
    },
    usage: (body) => openai.usage?.(body),
  }
}

/** Causes that only an error's message names, by its status. */
const CAUSES: readonly (readonly [status: number, message: RegExp, meaning: Partial<UpstreamRefusal>])[] = [
  [403, /out of call volume quota/i, { status: 429, code: 'insufficient_quota' }],
]

/** Reads an error reply: OpenAI's body, with some messages of Azure's. */
export function toRefusal(reply: {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
}): UpstreamRefusal {
  const refusal = readRefusal(reply.status, reply.headers, reply.body)
  const { status, message = '' } = refusal
  const cause = CAUSES.find(([when, pattern]) => when === status && pattern.test(message))?.[2]
  const seconds = /retry after (\d+) seconds?/i.exec(message)?.[1]
  return { ...(seconds !== undefined && { retryAfter: Number(seconds) }), ...refusal, ...cause }
}
