import { type GetPage, type Model, type Paging, readPages } from 'unified-model-gateway/plugin'

/** "List Models", platform.claude.com. */
const PAGING: Paging = {
  entries: 'data',
  query: { limit: '1000' },
  cursor: 'after_id',
  next: ({ has_more, last_id }) => (has_more === true ? last_id : undefined),
}

/** The models the key may use. `get`: asks for `/v1/models`. Throws where Anthropic cannot be asked. */
export async function listModels(get: GetPage): Promise<readonly Model[]> {
  return (await readPages(get, PAGING)).flatMap(toModel)
}

function toModel({ id, created_at, max_input_tokens: length }: Readonly<Record<string, unknown>>): Model[] {
  if (typeof id !== 'string') return []
  const created = Math.floor(Date.parse(String(created_at)) / 1000)
  return [
    {
      id,
      owned_by: 'anthropic',
      ...(created > 0 && { created }),
      ...(typeof length === 'number' && { context_length: length }),
    },
  ]
}
