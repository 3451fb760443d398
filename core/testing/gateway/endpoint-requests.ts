import type { EndpointName, ModelEndpointName } from '../../sdk/api.ts'

/** An endpoint other than chat completions and the list of models. */
export type OtherEndpoint = Exclude<ModelEndpointName, 'chat.completions'>

type Members = Readonly<Record<string, unknown>>

const HELLO = [{ role: 'user', content: 'Hello' }]
const SOUND = new File(['a sound'], 'a.mp3', { type: 'audio/mpeg' })
const PICTURE = new File(['a picture'], 'a.png', { type: 'image/png' })

/** Requests to endpoints that some providers serve in addition to chat completions, without their model. One with a file is a form. */
export const ENDPOINT_REQUESTS: Readonly<Record<OtherEndpoint, Members>> = {
  completions: { prompt: 'Hello' },
  embeddings: { input: 'Hello' },
  messages: { max_tokens: 10, system: 'Be brief.', messages: HELLO },
  'messages.count_tokens': { messages: HELLO },
  responses: { input: 'Hello', instructions: 'Be brief.' },
  moderations: { input: 'Hello' },
  'images.generations': { prompt: 'A fox', size: '512x512' },
  'images.edits': { prompt: 'A fox', image: PICTURE },
  'audio.speech': { input: 'Hello', voice: 'alloy' },
  'audio.transcriptions': { file: SOUND, language: 'en' },
  'audio.translations': { file: SOUND },
  rerank: { query: 'Where?', documents: ['Here.', 'There.'], top_n: 1 },
}

/** The members by which a client of an endpoint asks for a stream. */
export const streamed = (endpoint: EndpointName): Members =>
  endpoint === 'audio.speech' ? { stream_format: 'sse' } : { stream: true }

/** The path of an endpoint. */
export const pathOf = (endpoint: EndpointName): string => `/v1/${endpoint.replaceAll('.', '/')}`

/** The body of a request: JSON, or a form if a member is a file. */
export function bodyOf(asked: Members): Members | FormData {
  const members = Object.entries(asked)
  if (!members.some(([, value]) => value instanceof File)) return asked
  const form = new FormData()
  for (const [name, value] of members) form.set(name, value instanceof File ? value : String(value))
  return form
}
