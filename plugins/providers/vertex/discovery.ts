import { type GetPage, type Model, readPages } from 'unified-model-gateway/plugin'
import { googlePaging } from '../gemini/discovery.ts'
import type { Publisher } from './model-name.ts'

/** What of a publisher's models can chat: the lists hold those for images, embeddings and speech too. */
const CHATTING: Readonly<Record<Publisher, RegExp>> = {
  google: /^gemini-(?!.*(?:embedding|-tts|-live|-audio))/,
  anthropic: /^claude-/,
}

const PAGING = googlePaging('publisherModels', 100)

/** Where models are asked for, and what the lists do not say. */
export interface Catalogue {
  /** Asks for a publisher's list. */
  get(publisher: Publisher): GetPage
  /** Tokens of a model's prompt, where they are known. */
  contextLength(model: string): number | undefined
}

/** The models of both publishers. Throws where neither can be asked: a project may well be without Claude. */
export async function listModels(catalogue: Catalogue): Promise<readonly Model[]> {
  const lists = await Promise.allSettled([listOf('google', catalogue), listOf('anthropic', catalogue)])
  const told = lists.flatMap((list) => (list.status === 'fulfilled' ? [list.value] : []))
  const failed = lists.find((list) => list.status === 'rejected')
  if (told.length === 0) throw failed!.reason
  return told.flat()
}

async function listOf(publisher: Publisher, { get, contextLength }: Catalogue): Promise<Model[]> {
  const models = await readPages(get(publisher), PAGING)
  return models.flatMap(({ name, versionId }) => {
    const plain = typeof name === 'string' ? name.slice(name.lastIndexOf('/') + 1) : ''
    if (!CHATTING[publisher].test(plain)) return []
    // A dated Claude is called by its date.
    const id = publisher === 'anthropic' && /^\d{8}$/.test(String(versionId)) ? `${plain}@${versionId}` : plain
    const length = contextLength(id)
    return [{ id, owned_by: publisher, ...(length !== undefined && { context_length: length }) }]
  })
}
