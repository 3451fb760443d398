import { type Host, isRecord, type Model, type Secret } from 'unified-model-gateway/plugin'

/** Where and as whom to ask. */
export interface Access {
  /** The address before `/v1`. */
  readonly base: string
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly host: Pick<Host, 'getJson'>
}

/** Ten thousand models are more than Cohere has; an upstream that goes on for ever is cut off there. */
const MAX_PAGES = 10

/** The models that chat. Throws where Cohere cannot be asked. ("List models", docs.cohere.com.) */
export async function listModels({ base, headers, host }: Access, signal: AbortSignal): Promise<readonly Model[]> {
  const models: Model[] = []
  let token = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ endpoint: 'chat', page_size: '1000', ...(token && { page_token: token }) })
    const reply = await host.getJson(`${base}/v1/models?${query}`, { headers, signal })
    const { models: rows, next_page_token: next } = isRecord(reply) ? reply : {}
    models.push(...(Array.isArray(rows) ? rows.filter(isRecord) : []).flatMap(toModel))
    if (typeof next !== 'string' || next === '' || next === token) break
    token = next
  }
  return models
}

function toModel({ name, context_length: length }: Readonly<Record<string, unknown>>): Model[] {
  if (typeof name !== 'string' || name === '') return []
  return [{ id: name, owned_by: 'cohere', ...(typeof length === 'number' && { context_length: length }) }]
}
