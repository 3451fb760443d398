import type { Provider } from 'unified-model-gateway/plugin'

/** An endpoint of OpenAI's API that this provider passes on as it is. */
export type PassedEndpoint = Exclude<keyof NonNullable<Provider['endpoints']>, 'messages' | 'messages.count_tokens'>

/** The paths of the endpoints below the base URL. Cohere's and Jina's path for reranking is also that of vLLM, Together and others. */
export const ENDPOINT_PATHS = {
  completions: '/completions',
  embeddings: '/embeddings',
  responses: '/responses',
  'responses.compact': '/responses/compact',
  'responses.input_tokens': '/responses/input_tokens',
  moderations: '/moderations',
  'images.generations': '/images/generations',
  'images.edits': '/images/edits',
  'audio.speech': '/audio/speech',
  'audio.transcriptions': '/audio/transcriptions',
  'audio.translations': '/audio/translations',
  rerank: '/rerank',
} as const satisfies Readonly<Record<PassedEndpoint, string>>

/** An object with a value for each of these endpoints. */
export const forEndpoints = <Name extends PassedEndpoint, Value>(names: readonly Name[], value: (name: Name) => Value) =>
  Object.fromEntries(names.map((name) => [name, value(name)])) as Readonly<Record<Name, Value>>
