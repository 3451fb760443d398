import { type GetPage, type Model, type Paging, readPages } from 'unified-model-gateway/plugin'

/** "List models", docs.cohere.com. */
const PAGING: Paging = {
  entries: 'models',
  query: { endpoint: 'chat', page_size: '1000' },
  cursor: 'page_token',
  next: ({ next_page_token }) => next_page_token,
}

/** The models that chat. `get`: asks for `/v1/models`. Throws where Cohere cannot be asked. */
export async function listModels(get: GetPage): Promise<readonly Model[]> {
  return (await readPages(get, PAGING)).flatMap(toModel)
}

function toModel({ name, context_length: length }: Readonly<Record<string, unknown>>): Model[] {
  if (typeof name !== 'string' || name === '') return []
  return [{ id: name, owned_by: 'cohere', ...(typeof length === 'number' && { context_length: length }) }]
}
