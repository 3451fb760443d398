/** A route of the gateway, as a test asks for it. */
export interface Route {
  readonly name: string
  readonly method: 'GET' | 'POST'
  /** As the router knows it. */
  readonly path: string
  /** Where it differs from `path`. */
  readonly target?: string
  readonly body?: string
}

const CHAT = { method: 'POST', path: '/v1/chat/completions' } as const
const BODY = '{"model":"up/some-model","messages":[{"role":"user","content":"Hi"}]}'

/** Every route that a key opens. */
export const KEYED: readonly Route[] = [
  { ...CHAT, name: 'a completion', body: BODY },
  { ...CHAT, name: 'a stream', body: BODY.replace('{', '{"stream":true,') },
  { name: 'embeddings', method: 'POST', path: '/v1/embeddings', body: '{"model":"up/some-model","input":"Hi"}' },
  { name: 'a message', method: 'POST', path: '/v1/messages', body: BODY.replace('{', '{"max_tokens":9,') },
  {
    name: 'a count of tokens',
    method: 'POST',
    path: '/v1/messages/count_tokens',
    body: BODY,
  },
  { name: 'a completion of a text', method: 'POST', path: '/v1/completions', body: '{"model":"up/some-model","prompt":"Hi"}' },
  { name: 'a moderation', method: 'POST', path: '/v1/moderations', body: '{"model":"up/some-model","input":"Hi"}' },
  { name: 'a picture', method: 'POST', path: '/v1/images/generations', body: '{"model":"up/some-model","prompt":"Hi"}' },
  { name: 'speech', method: 'POST', path: '/v1/audio/speech', body: '{"model":"up/some-model","input":"Hi"}' },
  {
    name: 'a ranking',
    method: 'POST',
    path: '/v1/rerank',
    body: '{"model":"up/some-model","query":"Hi","documents":["Hi"]}',
  },
  { name: 'a changed picture', method: 'POST', path: '/v1/images/edits', body: '{"model":"up/some-model","prompt":"Hi"}' },
  { name: 'a transcript', method: 'POST', path: '/v1/audio/transcriptions', body: '{"model":"up/some-model"}' },
  { name: 'a translation', method: 'POST', path: '/v1/audio/translations', body: '{"model":"up/some-model"}' },
  { name: 'a response', method: 'POST', path: '/v1/responses', body: '{"model":"up/some-model","input":"Hi"}' },
  { name: 'the models', method: 'GET', path: '/v1/models' },
  { name: 'a model', method: 'GET', path: '/v1/models/*id', target: '/v1/models/up%2Fsome-model' },
]

/** Every route of the operator's. */
export const SYSTEM: readonly Route[] = [
  { name: 'the metrics', method: 'GET', path: '/metrics' },
  { name: 'whether it lives', method: 'GET', path: '/livez' },
  { name: 'whether it is ready', method: 'GET', path: '/readyz' },
]
