import type { ClientProtocol } from '../client-protocol.ts'
import type { ModelEndpoint } from '../format.ts'
import { checkOf } from '../validation.ts'
import { MESSAGES_WIRE } from './errors.ts'
import { NAMES, SAME } from './names.ts'
import { countReply, messagesReply } from './native-reply.ts'
import { cleaned, SUSPICIOUS } from './native-request.ts'
import { toMessage } from './reply.ts'
import { toChat, toChatBytes } from './request.ts'
import { MessageStreamWriter } from './stream.ts'

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
  headers: ['anthropic-beta'],
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
