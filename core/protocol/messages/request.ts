import { createHash } from 'node:crypto'
import { type ChatRequest, dropped, mapped, type ParameterSupport, refused } from '../../sdk/api.ts'
import { defineCallFunction } from '../../sdk/call-function.ts'
import { isCount, isRecord } from '../../sdk/json.ts'
import type { ChatBytes, ChatTranslation, ToChatContext, ToChatInput } from '../client-protocol.ts'
import { fitChat } from '../fit-chat.ts'
import { Notes } from '../notes.ts'
import { toChatMessages } from './conversation.ts'
import { toToolset } from './tools.ts'
import { expectVersion, VERSION_HEADER } from './version.ts'
import type { MessageParam } from './wire.ts'

/** What becomes of each member of a request on its way to another upstream. docs/messages.md is compared with it by a test. */
export const MEMBERS: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  messages: mapped('messages'),
  system: mapped('messages, of role system'),
  max_tokens: mapped('max_completion_tokens'),
  stream: mapped('stream'),
  temperature: mapped('temperature'),
  top_p: mapped('top_p'),
  top_k: mapped('top_k, of upstreams that have it'),
  stop_sequences: mapped('stop'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice, parallel_tool_calls'),
  thinking: mapped('thinking of upstreams that take a number of tokens, reasoning_effort'),
  output_config: mapped('reasoning_effort, response_format'),
  metadata: mapped('user'),
  service_tier: mapped('service_tier'),
  cache_control: mapped('cache_control, of upstreams that have it'),
  context_management: dropped,
  diagnostics: dropped,
  fallbacks: dropped,
  speed: dropped,
  user_profile_id: dropped,
  workspace_id: dropped,
  container: refused('This upstream has no containers.'),
  inference_geo: refused('This upstream cannot be told where to compute.'),
  mcp_servers: refused('This upstream connects to no MCP servers.'),
  thread: refused('This upstream keeps no conversations: send all of the conversation, without `thread`.'),
}

/** A request of the Messages API as a chat completion request. Members that are not known are left out, and named. */
export function toChat(
  body: Readonly<Record<string, unknown>>,
  { headers }: Pick<ToChatContext, 'headers'> = { headers: {} },
): ChatTranslation {
  const notes = new Notes()
  expectVersion(body, headers[VERSION_HEADER], notes)
  for (const [name, value] of Object.entries(body)) if (value != null) notes.member(name, MEMBERS)
  const { model, max_tokens, stream, temperature, top_p, top_k, stop_sequences: stop, metadata } = body
  const { service_tier: tier, cache_control: mark } = body
  const user = isRecord(metadata) ? metadata.user_id : undefined
  const request: ChatRequest = {
    model: model as string,
    messages: toChatMessages(body.system, body.messages as readonly MessageParam[], notes),
    ...(max_tokens != null && { max_completion_tokens: Math.max(max_tokens as number, LEAST_TOKENS) }),
    ...(stream === true && { stream, stream_options: { include_usage: true } }),
    ...(temperature != null && { temperature: temperature as number }),
    ...(top_p != null && { top_p: top_p as number }),
    ...(top_k != null && { top_k }),
    ...(mark != null && { cache_control: mark }),
    ...(Array.isArray(stop) && stop.length > 0 && { stop }),
    ...toToolset(body.tools, body.tool_choice, notes),
    ...toOutput(body, notes),
    ...(typeof user === 'string' && { user: shortened(user) }),
    ...(tier === 'standard_only' && { service_tier: 'default' }),
  }
  const { dropped, hasCacheMarks, foreign } = notes
  return { body: request, dropped, hasCacheMarks, effortIsHint: true, ...(foreign && { foreign }) }
}

/** A large request as JSON for an upstream, in a worker thread. */
export const toChatBytes = defineCallFunction(
  import.meta.url,
  'toChatBytes',
  (call, { profile, headers }: ToChatInput): ChatBytes => {
    const fitted = fitChat(toChat(call.body, { headers }), profile)
    return { bytes: Buffer.from(JSON.stringify(fitted.body)), dropped: fitted.dropped }
  },
)

function toOutput({ thinking, output_config: config }: Readonly<Record<string, unknown>>, notes: Notes): Partial<ChatRequest> {
  const { effort, format, ...others } = isRecord(config) ? config : {}
  for (const name of Object.keys(others)) notes.drop(`output_config.${name}`)
  const level = toEffort(isRecord(thinking) ? thinking : {}, typeof effort === 'string' ? effort : undefined)
  if (isRecord(thinking) && thinking.display != null) notes.drop('thinking.display')
  const budget = isRecord(thinking) && thinking.type === 'enabled' && isCount(thinking.budget_tokens) ? thinking.budget_tokens : 0
  return {
    ...(level !== undefined && { reasoning_effort: level }),
    ...(budget > 0 && { thinking: { type: 'enabled', budget_tokens: budget } }),
    ...toFormat(format, notes),
  }
}

function toEffort({ type, budget_tokens: budget }: Readonly<Record<string, unknown>>, effort?: string): string | undefined {
  switch (type) {
    case 'disabled':
    case 'between_tools':
      return 'none'
    case 'enabled':
      return effort ?? (isCount(budget) && budget > 0 ? undefined : 'low')
    case 'adaptive':
      // Anthropic's default.
      return effort ?? 'high'
    default:
      return effort
  }
}

function toFormat(format: unknown, notes: Notes): Partial<ChatRequest> {
  if (!isRecord(format)) return {}
  if (format.type !== 'json_schema' || !isRecord(format.schema)) {
    notes.refuse('output_config.format', 'Only `json_schema`, with a schema, is known here.')
    return {}
  }
  return { response_format: { type: 'json_schema', json_schema: { name: 'output', schema: format.schema, strict: true } } }
}

/** With 0 Anthropic only fills its cache (`MessageCreateParams` of @anthropic-ai/sdk 1.14). A call for one token does so elsewhere, which refuses 0. */
const LEAST_TOKENS = 1

/** The longest `user` that OpenAI takes. */
const MAX_USER = 64

/** A digest of an id that is too long identifies the user as well. */
const shortened = (user: string): string => (user.length <= MAX_USER ? user : createHash('sha256').update(user).digest('hex'))
