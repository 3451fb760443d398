/** A route of the gateway, as a test asks for it. */
export interface Route {
  readonly name: string
  readonly method: 'GET' | 'POST' | 'DELETE'
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
  { name: 'a compaction', method: 'POST', path: '/v1/responses/compact', body: '{"model":"up/some-model","input":"Hi"}' },
  {
    name: 'a count of the tokens of a response',
    method: 'POST',
    path: '/v1/responses/input_tokens',
    body: '{"model":"up/some-model","input":"Hi"}',
  },
  { name: 'a kept response', method: 'GET', path: '/v1/responses/:id', target: '/v1/responses/resp_1' },
  { name: 'the end of a kept response', method: 'DELETE', path: '/v1/responses/:id', target: '/v1/responses/resp_1' },
  {
    name: 'the items of a response',
    method: 'GET',
    path: '/v1/responses/:id/input_items',
    target: '/v1/responses/resp_1/input_items',
  },
  { name: 'the end of a call', method: 'POST', path: '/v1/responses/:id/cancel', target: '/v1/responses/resp_1/cancel' },
  { name: 'a new conversation', method: 'POST', path: '/v1/conversations', body: '{}' },
  { name: 'a conversation', method: 'GET', path: '/v1/conversations/:id', target: '/v1/conversations/conv_1' },
  {
    name: 'a changed conversation',
    method: 'POST',
    path: '/v1/conversations/:id',
    target: '/v1/conversations/conv_1',
    body: '{"metadata":{}}',
  },
  { name: 'the end of a conversation', method: 'DELETE', path: '/v1/conversations/:id', target: '/v1/conversations/conv_1' },
  {
    name: 'the items of a conversation',
    method: 'GET',
    path: '/v1/conversations/:id/items',
    target: '/v1/conversations/conv_1/items',
  },
  {
    name: 'new items of a conversation',
    method: 'POST',
    path: '/v1/conversations/:id/items',
    target: '/v1/conversations/conv_1/items',
    body: '{"items":[]}',
  },
  { name: 'an item', method: 'GET', path: '/v1/conversations/:id/items/:item', target: '/v1/conversations/conv_1/items/msg_1' },
  {
    name: 'the end of an item',
    method: 'DELETE',
    path: '/v1/conversations/:id/items/:item',
    target: '/v1/conversations/conv_1/items/msg_1',
  },
  { name: 'the models', method: 'GET', path: '/v1/models' },
  { name: 'a model', method: 'GET', path: '/v1/models/*id', target: '/v1/models/up%2Fsome-model' },
]

/** Every route of the operator's. */
export const SYSTEM: readonly Route[] = [
  { name: 'the metrics', method: 'GET', path: '/metrics' },
  { name: 'whether it lives', method: 'GET', path: '/livez' },
  { name: 'whether it is ready', method: 'GET', path: '/readyz' },
]
