import type { Host, Model, Secret } from 'unified-model-gateway/plugin'

/** A page of `GET /models`. */
interface Page {
  readonly models?: readonly {
    readonly name?: unknown
    readonly inputTokenLimit?: unknown
    readonly supportedGenerationMethods?: unknown
  }[]
  readonly nextPageToken?: unknown
}

/** Thirty thousand models are more than Google has; an upstream that goes on for ever is cut off there. */
const MAX_PAGES = 30

/** Where and as whom to ask. */
export interface Access {
  /** The address before `/models`. */
  readonly base: string
  readonly headers: Readonly<Record<string, string | Secret>>
  readonly host: Pick<Host, 'getJson'>
}

/** The models the key may chat with. Throws where Google cannot be asked. */
export async function listModels({ base, headers, host }: Access, signal: AbortSignal): Promise<readonly Model[]> {
  const models: Model[] = []
  let token: unknown
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = new URLSearchParams({ pageSize: '1000', ...(typeof token === 'string' && { pageToken: token }) })
    const reply = ((await host.getJson(`${base}/models?${query}`, { headers, signal })) ?? {}) as Page
    models.push(...(reply.models ?? []).flatMap(toModel))
    if (typeof reply.nextPageToken !== 'string' || reply.nextPageToken === '' || reply.nextPageToken === token) break
    token = reply.nextPageToken
  }
  return models
}

function toModel({ name, inputTokenLimit, supportedGenerationMethods: methods }: NonNullable<Page['models']>[number]): Model[] {
  if (typeof name !== 'string' || !Array.isArray(methods) || !methods.includes('generateContent')) return []
  return [
    {
      id: name.replace(/^models\//, ''),
      owned_by: 'google',
      ...(typeof inputTokenLimit === 'number' && { context_length: inputTokenLimit }),
    },
  ]
}
