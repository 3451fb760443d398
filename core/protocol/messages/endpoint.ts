import type { GatewayError } from '../../errors.ts'
import type { ClientProtocol, ClientWire } from '../client-protocol.ts'
import { countReply } from '../count-reply.ts'
import type { ModelEndpoint } from '../format.ts'
import { checkOf } from '../validation.ts'
import { cleaned, messagesReply, SUSPICIOUS } from './native.ts'
import { overflowMessage } from './overflow.ts'
import { toMessage } from './reply.ts'
import { toChat, toChatBytes } from './request.ts'
import { frameOf, MessageStreamWriter } from './stream.ts'
import { VERSION_HEADER } from './version.ts'

/** Parameters of chat completions that have the same value in the Messages API, by their names there. */
const SAME: Readonly<Record<string, string>> = {
  model: 'model',
  stream: 'stream',
  temperature: 'temperature',
  top_p: 'top_p',
  top_k: 'top_k',
  max_tokens: 'max_tokens',
  max_completion_tokens: 'max_tokens',
}

/** The other parameters that a translated request can have. */
const NAMES: Readonly<Record<string, string>> = {
  max_completion_tokens: 'max_tokens',
  stop: 'stop_sequences',
  reasoning_effort: 'thinking',
  thinking: 'thinking.budget_tokens',
  response_format: 'output_config.format',
  'response_format.strict': 'output_config.format.strict',
  'response_format.json_schema.schema': 'output_config.format.schema',
  parallel_tool_calls: 'tool_choice.disable_parallel_tool_use',
  user: 'metadata.user_id',
}

/** Anthropic's type of an error by its status ("Errors", platform.claude.com). Other client errors are `invalid_request_error`. */
const TYPES: ReadonlyMap<number, string> = new Map([
  [401, 'authentication_error'],
  [403, 'permission_error'],
  [404, 'not_found_error'],
  [408, 'timeout_error'],
  [413, 'request_too_large'],
  [429, 'rate_limit_error'],
  [503, 'overloaded_error'],
  [504, 'timeout_error'],
])

/** What clients of the Messages API get from the gateway itself. */
export const MESSAGES_WIRE: ClientWire = {
  error: toErrorBody,
  status: statusOf,
  errorFrame: (error) => frameOf(toErrorBody(error)),
  heartbeat: frameOf({ type: 'ping' }),
  requestIdHeader: 'request-id',
}

/**
 * What is the upstream's fault is no client error to Claude Code, which sends a request again five times after any 400, each time with less in
 * it, and stops at `x-should-retry: false` with a 5xx (2.1.330, tried on 2026-11-26).
 */
function statusOf({ status, fault }: GatewayError): number {
  return fault === 'upstream' && status === 400 ? 502 : status
}

/** As in every reply of the gateway, the id of the request is a header and not in the body. */
function toErrorBody(error: GatewayError) {
  const { innererror } = error
  const status = statusOf(error)
  const type = TYPES.get(status) ?? (status < 500 ? 'invalid_request_error' : 'api_error')
  const details = error.param === 'thread' && { details: NO_THREADS }
  return {
    type: 'error' as const,
    error: { type, message: inOwnNames(error), ...details, ...(innererror && { innererror }) },
    request_id: null,
  }
}

/** By this code the SDKs know that they must send all of a conversation (`lib/internal/threads` of @anthropic-ai/sdk 1.11). */
const NO_THREADS = { error_code: 'thread_unsupported_request', unsupported: null }

/** The message with the client's name of the parameter. */
function inOwnNames({ message, param, code }: GatewayError): string {
  if (code === 'context_length_exceeded') return overflowMessage(message)
  return param !== null && Object.hasOwn(NAMES, param) ? message.replaceAll(`'${param}'`, `'${NAMES[param]}'`) : message
}

const string = { type: 'string' }
const object = { type: 'object' }
const blocks = { type: ['string', 'array'], items: { type: 'object', required: ['type'], properties: { type: string } } }

/** What any upstream requires of a request; the rest is checked by those that serve it. */
const members = {
  model: string,
  messages: {
    type: 'array',
    minItems: 1,
    items: {
      type: 'object',
      required: ['role', 'content'],
      properties: { role: { type: 'string', enum: ['user', 'assistant', 'system'] }, content: blocks },
    },
  },
  system: blocks,
  tools: { type: 'array', items: object },
  tool_choice: object,
  thinking: object,
  output_config: object,
}

const schema = {
  type: 'object',
  required: ['model', 'messages', 'max_tokens'],
  properties: {
    ...members,
    max_tokens: { type: 'integer', minimum: 0 },
    stream: { type: 'boolean' },
    temperature: { type: 'number', minimum: 0, maximum: 1 },
    top_p: { type: 'number', minimum: 0, maximum: 1 },
    top_k: { type: 'integer', minimum: 0 },
    stop_sequences: { type: 'array', items: string },
    metadata: object,
    service_tier: string,
  },
}

const protocol: ClientProtocol = {
  toChat,
  toChatBytes,
  sameAs: SAME,
  namesOf: NAMES,
  headers: ['anthropic-beta', VERSION_HEADER],
  versionHeader: VERSION_HEADER,
  suspicious: SUSPICIOUS,
  cleaned,
  reply: toMessage,
  writer: (call) => new MessageStreamWriter(call),
}

/** `POST /v1/messages`: Anthropic's API. */
export const messages: ModelEndpoint = {
  name: 'messages',
  path: '/v1/messages',
  check: checkOf(schema),
  reply: messagesReply,
  protocol,
  wire: MESSAGES_WIRE,
}

/** `POST /v1/messages/count_tokens` */
export const countTokens: ModelEndpoint = {
  name: 'messages.count_tokens',
  path: '/v1/messages/count_tokens',
  check: checkOf({
    type: 'object',
    required: ['model', 'messages'],
    properties: { ...members, stream: { enum: [false] } },
  }),
  reply: countReply('messages.count_tokens'),
  protocol,
  wire: MESSAGES_WIRE,
}
