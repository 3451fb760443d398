import type { EndpointName, ModelEndpointName } from '../../sdk/api.ts'

/** The name of an endpoint under `/v1` that calls no model. */
export type PlainEndpointName = Exclude<EndpointName, ModelEndpointName>

/** The endpoints under `/v1` that call no model, by method and path. */
export const PLAIN_ENDPOINTS: {
  readonly [Name in PlainEndpointName]: { readonly method: 'GET' | 'POST' | 'DELETE'; readonly path: string }
} = {
  models: { method: 'GET', path: '/v1/models' },
  'responses.retrieve': { method: 'GET', path: '/v1/responses/:id' },
  'responses.delete': { method: 'DELETE', path: '/v1/responses/:id' },
  'responses.cancel': { method: 'POST', path: '/v1/responses/:id/cancel' },
  'responses.input_items': { method: 'GET', path: '/v1/responses/:id/input_items' },
  'conversations.create': { method: 'POST', path: '/v1/conversations' },
  'conversations.retrieve': { method: 'GET', path: '/v1/conversations/:id' },
  'conversations.update': { method: 'POST', path: '/v1/conversations/:id' },
  'conversations.delete': { method: 'DELETE', path: '/v1/conversations/:id' },
  'conversations.items.create': { method: 'POST', path: '/v1/conversations/:id/items' },
  'conversations.items.list': { method: 'GET', path: '/v1/conversations/:id/items' },
  'conversations.items.retrieve': { method: 'GET', path: '/v1/conversations/:id/items/:item' },
  'conversations.items.delete': { method: 'DELETE', path: '/v1/conversations/:id/items/:item' },
}

/** The method and path of an endpoint that calls no model; undefined for the others. */
export const plainEndpoint = (name: string): (typeof PLAIN_ENDPOINTS)[PlainEndpointName] | undefined =>
  Object.hasOwn(PLAIN_ENDPOINTS, name) ? PLAIN_ENDPOINTS[name as PlainEndpointName] : undefined
