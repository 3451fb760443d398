import type { ErrorBody, GatewayError } from '../../errors.ts'
import { type ClientProtocol, type ClientWire, OPENAI_WIRE } from '../client-protocol.ts'
import type { ModelEndpoint } from '../format.ts'
import { checkOf } from '../validation.ts'
import { NAMES, SAME } from './names.ts'
import { cleaned, responsesReply, SUSPICIOUS, unkept } from './native.ts'
import { ResponseStreamWriter, toResponse } from './reply.ts'
import { toChat, toChatBytes } from './request.ts'
import { frameOf } from './wire.ts'

/** What clients of the Responses API get from the gateway itself. */
export const RESPONSES_WIRE: ClientWire = {
  error: (error) => ({ error: inOwnNames(error) }),
  errorFrame(error, last) {
    const own = inOwnNames(error)
    const { code, message, param } = own
    // The schema has the members of the event alone, OpenAI's servers send `error`, by which the SDKs throw.
    return frameOf({
      type: 'error',
      sequence_number: numberAfter(last),
      code,
      message,
      param,
      error: own,
    })
  },
  heartbeat: OPENAI_WIRE.heartbeat,
}

/** The error with the client's name of the parameter. */
function inOwnNames(error: GatewayError): ErrorBody {
  const { error: own } = error.toJSON()
  const { param } = own
  if (param === null || !Object.hasOwn(NAMES, param)) return own
  const name = NAMES[param]!
  return { ...own, param: name, message: own.message.replaceAll(`'${param}'`, `'${name}'`) }
}

/** Quotes inside a text are escaped: only an event's own number matches. */
const NUMBER = /"sequence_number"\s*:\s*(\d+)/g

/** The number of the event after these. */
function numberAfter(events: string): number {
  const last = [...events.matchAll(NUMBER)].at(-1)?.[1]
  return last === undefined ? 0 : Number(last) + 1
}

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
  unkept,
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
  keepsReplies: true,
}
