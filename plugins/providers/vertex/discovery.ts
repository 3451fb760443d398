import type { Host, Model } from 'unified-model-gateway/plugin'
import { entriesOf } from 'unified-model-gateway/providers/gemini'
import type { AuthHeaders } from './credentials.ts'
import type { Publisher } from './model-name.ts'

/** What of a publisher's models can chat: the lists hold those for images, embeddings and speech too. */
const CHATTING: Readonly<Record<Publisher, RegExp>> = {
  google: /^gemini-(?!.*(?:embedding|-tts|-live|-audio))/,
  anthropic: /^claude-/,
}

/** Where and as whom to ask. */
export interface Access {
  /** The address of a publisher's list. */
  list(publisher: Publisher): string
  readonly headers: AuthHeaders
  readonly host: Pick<Host, 'getJson'>
  /** Tokens of a model's prompt, where they are known: the list does not say. */
  contextLength(model: string): number | undefined
}

/** The models of both publishers. Throws where neither can be asked: a project may well be without Claude. */
export async function listModels(access: Access, signal: AbortSignal): Promise<readonly Model[]> {
  const lists = await Promise.allSettled([listOf('google', access, signal), listOf('anthropic', access, signal)])
  const told = lists.flatMap((list) => (list.status === 'fulfilled' ? [list.value] : []))
  const failed = lists.find((list) => list.status === 'rejected')
  if (told.length === 0) throw failed!.reason
  return told.flat()
}

async function listOf(publisher: Publisher, access: Access, signal: AbortSignal): Promise<Model[]> {
  const { headers, host, list, contextLength } = access
  const models = await entriesOf('publisherModels', { url: list(publisher), headers, host, pageSize: 100 }, signal)
  return models.flatMap(({ name, versionId }) => {
    const plain = typeof name === 'string' ? name.slice(name.lastIndexOf('/') + 1) : ''
    if (!CHATTING[publisher].test(plain)) return []
    // A dated Claude is called by its date.
    const id = publisher === 'anthropic' && /^\d{8}$/.test(String(versionId)) ? `${plain}@${versionId}` : plain
    const length = contextLength(id)
    return [{ id, owned_by: publisher, ...(length !== undefined && { context_length: length }) }]
  })
}
