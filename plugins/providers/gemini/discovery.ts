import { type GetPage, type Model, type Paging, readPages } from 'unified-model-gateway/plugin'

/** How Google's lists come in pages. `entries`: the name of what is listed. */
export function googlePaging(entries: string, pageSize: number): Paging {
  return {
    entries,
    query: { pageSize: String(pageSize) },
    cursor: 'pageToken',
    next: ({ nextPageToken }) => nextPageToken,
  }
}

const PAGING = googlePaging('models', 1000)

/** The models the key may chat with. `get`: asks for `/models`. Throws where Google cannot be asked. */
export async function listModels(get: GetPage): Promise<readonly Model[]> {
  return (await readPages(get, PAGING)).flatMap(toModel)
}

function toModel({ name, inputTokenLimit, supportedGenerationMethods: methods }: Readonly<Record<string, unknown>>): Model[] {
  if (typeof name !== 'string' || !Array.isArray(methods) || !methods.includes('generateContent')) return []
  return [
    {
      id: name.replace(/^models\//, ''),
      owned_by: 'google',
      ...(typeof inputTokenLimit === 'number' && { context_length: inputTokenLimit }),
    },
  ]
}
