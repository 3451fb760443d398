import { type GetPage, type Model, readPages, type Static, Type } from 'unified-model-gateway/plugin'
import {
  type ModelFacts as ClaudeFacts,
  type FactsTable as ClaudeFactsTable,
  factsOf as claudeFactsOf,
  factsRow as claudeRow,
} from '../anthropic/models.ts'
import {
  type ModelFacts as GeminiFacts,
  type FactsTable as GeminiFactsTable,
  factsOf as geminiFactsOf,
  factsRow as geminiRow,
  googlePaging,
} from '../gemini/models.ts'
import type { Publisher } from './address.ts'
import shipped from './models.json' with { type: 'json' }

/** A namespace's `facts`. A row whose glob contains `claude` has the facts of a Claude, any other those of a Gemini. */
export const factsSchema = Type.Record(Type.String({ pattern: 'claude' }), claudeRow, {
  additionalProperties: geminiRow,
  description: 'What models take, by globs of their names: overrides the facts that ship with the gateway.',
})

/** The operator's rows of facts. */
export type FactsTable = Static<typeof factsSchema>

/** The facts about a Claude, by Anthropic's name of it. */
export function claudeFacts(model: string, own: FactsTable): ClaudeFacts {
  return claudeFactsOf(model, own as ClaudeFactsTable)
}

/** The facts about a Gemini. Those of models.json hold on Vertex AI only. */
export function geminiFacts(model: string, own: FactsTable): GeminiFacts {
  return geminiFactsOf(model, own as GeminiFactsTable, shipped as GeminiFactsTable)
}

/** The chat models of each publisher: the lists also have models for images, embeddings and speech. */
const CHAT_MODELS: Readonly<Record<Publisher, RegExp>> = {
  google: /^gemini-(?!.*(?:embedding|-tts|-live|-audio))/,
  anthropic: /^claude-/,
}

const PAGING = googlePaging('publisherModels', 100)

/** The models of both publishers. Throws if neither list can be read: a project may have no access to Claude. `own`: as in `geminiFacts`. */
export async function listModels(get: (publisher: Publisher) => GetPage, own: FactsTable): Promise<readonly Model[]> {
  const lists = await Promise.allSettled([listOf('google', get, own), listOf('anthropic', get, own)])
  const read = lists.flatMap((list) => (list.status === 'fulfilled' ? [list.value] : []))
  const failed = lists.find((list) => list.status === 'rejected')
  if (read.length === 0) throw failed!.reason
  return read.flat()
}

async function listOf(publisher: Publisher, get: (publisher: Publisher) => GetPage, own: FactsTable): Promise<Model[]> {
  const models = await readPages(get(publisher), PAGING)
  return models.flatMap(({ name, versionId }) => {
    const plain = typeof name === 'string' ? name.slice(name.lastIndexOf('/') + 1) : ''
    if (!CHAT_MODELS[publisher].test(plain)) return []
    // A dated Claude is called with its date.
    const id = publisher === 'anthropic' && /^\d{8}$/.test(String(versionId)) ? `${plain}@${versionId}` : plain
    const length = geminiFacts(id, own).contextLength
    return [{ id, owned_by: publisher, ...(length !== undefined && { context_length: length }) }]
  })
}
