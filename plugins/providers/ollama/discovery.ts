import { isRecord, type Model } from 'unified-model-gateway/plugin'

/** The models of a reply to `GET /api/tags` that can chat. Throws an Error where it is no such list. */
export function readModels(reply: unknown): readonly Model[] {
  if (!isRecord(reply) || !Array.isArray(reply.models)) throw new Error('the reply to GET /api/tags is not a list of models')
  return reply.models.filter(isRecord).flatMap(toModel)
}

function toModel({ name, modified_at, capabilities, details }: Readonly<Record<string, unknown>>): readonly Model[] {
  // Older versions do not tell what a model can do.
  const canChat = !Array.isArray(capabilities) || capabilities.includes('completion')
  if (typeof name !== 'string' || name === '' || !canChat) return []
  const created = Math.floor(Date.parse(String(modified_at)) / 1000)
  const length = isRecord(details) ? details.context_length : undefined
  return [
    {
      id: name,
      owned_by: 'library',
      ...(created > 0 && { created }),
      ...(typeof length === 'number' && length > 0 && { context_length: length }),
    },
  ]
}
