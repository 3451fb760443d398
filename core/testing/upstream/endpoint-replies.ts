import type { ModelEndpointName } from '../../sdk/api.ts'
import { DONE, event, json, reply } from './replies.ts'
import type { Script } from './script.ts'

/** The endpoints whose requests and replies are passed on as they are, but for embeddings, which the gateway checks and encodes. */
export type MediaEndpoint = Exclude<ModelEndpointName, 'chat.completions' | 'messages' | 'messages.count_tokens' | 'responses'>

/** What an upstream with OpenAI's API replies at an endpoint. */
export interface EndpointReply {
  /** The body of a whole reply; a text is a recording. */
  readonly whole: object | string
  /** The events of a stream, the last of which ends it ("Streaming events", developers.openai.com). Absent: the endpoint has no streams. */
  readonly events?: readonly string[]
}

const HEAD = { id: 'cmpl-1', object: 'text_completion', created: 1, model: 'm' }
const USAGE = { input_tokens: 5, output_tokens: 7, total_tokens: 12 }
const PICTURES = { created: 1, data: [{ b64_json: 'Zm94' }] }

const typed = (type: string, members: object): string => event({ type, ...members }, type)
const words = (text: string, finish_reason: string | null): string =>
  event({ ...HEAD, choices: [{ text, index: 0, logprobs: null, finish_reason }] })

/** By endpoint. OpenAI has none for reranking: its path and form are Cohere's and Jina's. */
export const ENDPOINT_REPLIES: Readonly<Record<MediaEndpoint, EndpointReply>> = {
  completions: {
    whole: {
      ...HEAD,
      choices: [{ text: 'Hi', index: 0, logprobs: null, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
    },
    events: [words('Hi', null), words(' there', null), words('', 'stop'), DONE],
  },
  embeddings: {
    whole: {
      object: 'list',
      data: [{ object: 'embedding', index: 0, embedding: [0.5, 1] }],
      model: 'm',
      usage: { prompt_tokens: 1, total_tokens: 1 },
    },
  },
  moderations: { whole: { id: 'modr-1', model: 'm', results: [{ flagged: false }] } },
  'images.generations': {
    whole: PICTURES,
    events: [
      typed('image_generation.partial_image', { partial_image_index: 0, b64_json: 'Zg==' }),
      typed('image_generation.completed', { b64_json: 'Zm94', usage: USAGE }),
    ],
  },
  'images.edits': {
    whole: PICTURES,
    events: [
      typed('image_edit.partial_image', { partial_image_index: 0, b64_json: 'Zg==' }),
      typed('image_edit.completed', { b64_json: 'Zm94', usage: USAGE }),
    ],
  },
  'audio.speech': {
    whole: 'sound',
    events: [typed('speech.audio.delta', { audio: 'c291' }), typed('speech.audio.done', { usage: USAGE })],
  },
  'audio.transcriptions': {
    whole: { text: 'Hi' },
    events: [typed('transcript.text.delta', { delta: 'Hi' }), typed('transcript.text.done', { text: 'Hi', usage: USAGE })],
  },
  'audio.translations': { whole: { text: 'Hi' } },
  rerank: {
    whole: {
      model: 'm',
      object: 'list',
      usage: { total_tokens: 9, prompt_tokens: 9 },
      results: [{ index: 0, relevance_score: 0.5 }],
    },
  },
}

/** The script of an endpoint's whole reply. */
export function wholeReplyOf(endpoint: MediaEndpoint): Script {
  const { whole } = ENDPOINT_REPLIES[endpoint]
  return typeof whole === 'string' ? reply([whole], { headers: { 'content-type': 'audio/mpeg' } }) : json(whole)
}
