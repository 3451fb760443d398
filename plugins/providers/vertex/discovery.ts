import type { Host, Model } from 'unified-model-gateway/plugin'
import type { AuthHeaders } from './credentials.ts'
import type { Publisher } from './model-name.ts'

/** A page of `GET /publishers/{publisher}/models`. */
interface Page {
  readonly publisherModels?: readonly { readonly name?: unknown; readonly versionId?: unknown }[]
  readonly nextPageToken?: unknown
}

/** More than Google has; an upstream that goes on for ever is cut off there. */
const MAX_PAGES = 30

/** What of a publisher's models can chat: the lists hold those for images, embeddings and speech too. */
const CHATTING: Readonly<Record<Publisher, RegExp>> = {
  google: /^gemini-(?!.*(?:embedding|-tts|-live|-audio))/,
  anthropic: /^claude-/,
}

/** Where and as whom to ask. */
export interface Access {
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
  const models: Model[] = []
  let token: unknown
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ pageSize: '100', ...(typeof token === 'string' && { pageToken: token }) })
    const url = `${access.list(publisher)}?${query}`
    const reply = ((await access.host.getJson(url, { headers: access.headers, signal })) ?? {}) as Page
    models.push(...(reply.publisherModels ?? []).flatMap((model) => toModel(model, publisher, access)))
    if (typeof reply.nextPageToken !== 'string' || reply.nextPageToken === '' || reply.nextPageToken === token) break
    token = reply.nextPageToken
  }
  return models
}

function toModel(
  { name, versionId }: NonNullable<Page['publisherModels']>[number],
  publisher: Publisher,
  access: Access,
): Model[] {
  const plain = typeof name === 'string' ? name.slice(name.lastIndexOf('/') + 1) : ''
  if (!CHATTING[publisher].test(plain)) return []
  // A dated Claude is called by its date.
  const id = publisher === 'anthropic' && /^\d{8}$/.test(String(versionId)) ? `${plain}@${versionId}` : plain
  const length = access.contextLength(id)
  return [{ id, owned_by: publisher, ...(length !== undefined && { context_length: length }) }]
}
