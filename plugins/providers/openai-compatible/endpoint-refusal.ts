import { type Provider, readRefusal, type UpstreamRefusal } from 'unified-model-gateway/plugin'

type ReadError = NonNullable<Provider['error']>

/** Where a model is found but not here, in OpenAI's words ("You are not allowed …" is a 403: github.com/infiniflow/ragflow/issues/1835). */
const OTHER_ENDPOINT = /\bv1\/(?:chat|completions|embeddings|responses)\b|not allowed to generate embeddings/i

const UNSUPPORTED: UpstreamRefusal = { status: 404, code: 'unsupported_endpoint' }

const readOpenAi: ReadError = ({ status, headers, body }) => readRefusal(status, headers, body)

/**
 * What a refusal at an endpoint beside chat completions means. Many vendors do not have it, and say so by the 404 of any address that
 * they do not have: it tells of no model, and of no parameter. `read`: the vendor's own reader of errors.
 */
export function readEndpointRefusal(read: ReadError = readOpenAi): ReadError {
  return function readIt(reply) {
    const refusal = read(reply)
    const { message = '', param } = refusal
    if (reply.status === 405 || OTHER_ENDPOINT.test(message)) return UNSUPPORTED
    if (reply.status !== 404 || /\bmodel\b/i.test(message)) return refusal
    // A response or an item that the client refers to is not there (any more).
    return param === undefined ? UNSUPPORTED : { ...refusal, status: 400 }
  }
}
