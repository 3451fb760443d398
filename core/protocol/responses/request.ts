import { GatewayError } from '../../errors.ts'
import { type ChatRequest, dropped, mapped, type ParameterSupport, refused } from '../../sdk/api.ts'
import { defineCallFunction } from '../../sdk/call-function.ts'
import { isCount, isRecord } from '../../sdk/json.ts'
import { chatCompletions } from '../chat-completions.ts'
import type { ChatBytes, ChatTranslation, ToChatInput } from '../client-protocol.ts'
import { fitChat } from '../fit-chat.ts'
import { Notes } from '../notes.ts'
import { toChatMessages } from './input.ts'
import { SAME } from './names.ts'
import { toToolset } from './tools.ts'
import type { Members } from './wire.ts'

const PREVIOUS = 'previous_response_id'
const NO_MEMORY = 'This upstream keeps no responses: send all of the conversation as `input`.'

/** What becomes of each member of a request on its way to another upstream. docs/responses.md is compared with it by a test. */
export const MEMBERS: Readonly<Record<string, ParameterSupport>> = {
  model: mapped('model'),
  input: mapped('messages'),
  instructions: mapped('messages, of role system'),
  max_output_tokens: mapped('max_completion_tokens'),
  stream: mapped('stream'),
  stream_options: mapped('nothing: no event is padded'),
  temperature: mapped('temperature'),
  top_p: mapped('top_p'),
  top_logprobs: mapped('logprobs, top_logprobs'),
  include: mapped('logprobs, for message.output_text.logprobs; reasoning always has its encrypted content'),
  tools: mapped('tools'),
  tool_choice: mapped('tool_choice'),
  parallel_tool_calls: mapped('parallel_tool_calls'),
  reasoning: mapped("reasoning_effort; max_tokens, which OpenAI has not, as Messages' budget_tokens"),
  text: mapped('response_format, verbosity'),
  metadata: mapped('nothing: the reply repeats it'),
  user: mapped('user'),
  service_tier: mapped('service_tier'),
  safety_identifier: mapped('safety_identifier'),
  prompt_cache_key: mapped('prompt_cache_key'),
  prompt_cache_retention: mapped('prompt_cache_retention'),
  prompt_cache_options: mapped('prompt_cache_options'),
  access_programs: dropped,
  context_management: dropped,
  image: dropped,
  max_tool_calls: dropped,
  store: dropped,
  truncation: dropped,
  background: refused('This upstream keeps no responses: ask for a stream.'),
  conversation: refused(NO_MEMORY),
  moderation: refused('This upstream does not moderate.'),
  previous_response_id: refused(NO_MEMORY),
  prompt: refused('This upstream has no stored prompts: send `instructions` and `input`.'),
}

/** Values that ask for nothing. */
const NEUTRAL: Members = { background: false, service_tier: 'auto', store: false, truncation: 'disabled' }

/** A request of the Responses API as a chat completion request. Members that are not known are left out, and named. */
export function toChat(body: Members): ChatTranslation {
  const notes = new Notes()
  const { previous_response_id: previous } = body
  if (previous != null) notes.refuse(PREVIOUS, NO_MEMORY, { row: 'previous_response_not_found', id: previous })
  for (const [name, value] of Object.entries(body)) if (value != null && value !== NEUTRAL[name]) notes.member(name, MEMBERS)
  const request: ChatRequest = {
    model: body.model as string,
    messages: toChatMessages(body, notes),
    ...toPlain(body),
    ...(body.stream === true && { stream: true, stream_options: { include_usage: true } }),
    ...toLogprobs(body, notes),
    ...toToolset(body, notes),
    ...toReasoning(body.reasoning, notes),
    ...toText(body.text),
  }
  const { dropped, foreign } = notes
  if (foreign !== undefined) return { body: request, dropped, hasCacheMarks: false, foreign }
  if (body.input == null) throw new GatewayError('missing_required_parameter', { param: 'input' })
  chatCompletions.check(request)
  return { body: request, dropped, hasCacheMarks: false }
}

/** A large request as JSON for an upstream, in a worker thread. */
export const toChatBytes = defineCallFunction(import.meta.url, 'toChatBytes', (call, { profile }: ToChatInput): ChatBytes => {
  const fitted = fitChat(toChat(call.body), profile)
  return { bytes: Buffer.from(JSON.stringify(fitted.body)), dropped: fitted.dropped }
})

/** Parameters that have the same value in chat completions. */
const NOT_PLAIN = ['model', 'stream', 'max_tokens', 'max_output_tokens', 'top_logprobs']
const PLAIN = Object.entries(SAME).filter(([name]) => !NOT_PLAIN.includes(name))

function toPlain(body: Members): Partial<ChatRequest> {
  const sent = PLAIN.filter(([, name]) => body[name] != null && body[name] !== NEUTRAL[name])
  return Object.fromEntries(sent.map(([chatName, name]) => [chatName, body[name]]))
}

function toLogprobs({ include, top_logprobs: top }: Members, notes: Notes): Partial<ChatRequest> {
  const asked: readonly unknown[] = Array.isArray(include) ? include : []
  const known = ['reasoning.encrypted_content', 'message.output_text.logprobs']
  if (asked.some((name) => !known.includes(String(name)))) notes.drop('include')
  const isAsked = asked.includes(known[1]) || (typeof top === 'number' && top > 0)
  return isAsked ? { logprobs: true, ...(typeof top === 'number' && { top_logprobs: top }) } : {}
}

/** Reasoning always comes with a summary, if the upstream shows it. */
function toReasoning(reasoning: unknown, notes: Notes): Partial<ChatRequest> {
  const { effort, context, mode, max_tokens: budget } = isRecord(reasoning) ? reasoning : {}
  if (context != null && context !== 'auto') notes.drop('reasoning.context')
  if (mode != null && mode !== 'standard') notes.drop('reasoning.mode')
  return {
    ...(typeof effort === 'string' && { reasoning_effort: effort }),
    ...(isCount(budget) && budget > 0 && { thinking: { type: 'enabled', budget_tokens: budget } }),
  }
}

function toText(text: unknown): Partial<ChatRequest> {
  const { format, verbosity } = isRecord(text) ? text : {}
  return { ...(verbosity != null && { verbosity }), ...toFormat(format) }
}

function toFormat(format: unknown): Partial<ChatRequest> {
  if (!isRecord(format) || format.type === 'text') return {}
  if (format.type !== 'json_schema') return { response_format: format as ChatRequest['response_format'] }
  const { type, ...schema } = format
  return { response_format: { type, json_schema: schema } as ChatRequest['response_format'] }
}
