import type { Model } from 'unified-model-gateway/plugin'
import { entriesOf, type List } from './pages.ts'

/** The models the key may chat with. `url`: of the list. Throws where Google cannot be asked. */
export async function listModels(list: Omit<List, 'pageSize'>, signal: AbortSignal): Promise<readonly Model[]> {
  const models = await entriesOf('models', { ...list, pageSize: 1000 }, signal)
  return models.flatMap(toModel)
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
