import type { ClientProtocol } from '../client-protocol.ts'
import type { ModelEndpoint } from '../format.ts'
import { checkOf } from '../validation.ts'
import { RESPONSES_WIRE } from './errors.ts'
import { NAMES, SAME } from './names.ts'
import { responsesReply } from './native-reply.ts'
import { cleaned, REFERENCES, SUSPICIOUS } from './native-request.ts'
import { toResponse } from './reply.ts'
import { toChat, toChatBytes } from './request.ts'
import { ResponseStreamWriter } from './stream.ts'

/** `CreateResponse` of openai-openapi: only rules for any upstream. A stored prompt or conversation may replace `input`. */
const schema = {
  type: 'object',
  required: ['model'],
  properties: {
    model: { type: 'string' },
    input: { type: ['string', 'array'] },
    stream: { type: 'boolean' },
    max_output_tokens: { type: 'integer', minimum: 0 },
    temperature: { type: 'number' },
    top_p: { type: 'number' },
    tools: { type: 'array' },
    user: { type: 'string' },
  },
}

const protocol: ClientProtocol = {
  toChat,
  toChatBytes,
  sameAs: SAME,
  namesOf: NAMES,
  headers: [],
  suspicious: SUSPICIOUS,
  cleaned,
  references: REFERENCES,
  reply: toResponse,
  writer: (call) => new ResponseStreamWriter(call),
}

/** `POST /v1/responses`: OpenAI's newer API. */
export const responses: ModelEndpoint = {
  name: 'responses',
  path: '/v1/responses',
  check: checkOf(schema),
  reply: responsesReply,
  protocol,
  wire: RESPONSES_WIRE,
}
