import { randomUUID } from 'node:crypto'
import {
  countOf,
  expectArguments,
  expectCallId,
  expectName,
  expectObject,
  expectObjects,
  expectText,
  type FinishReason,
  isCount,
  isRecord,
  parseRecord,
  type TokenLogprob,
  type TranslatedCompletion,
  toTokenLogprob,
  UpstreamError,
  type Usage,
} from 'unified-model-gateway/plugin'
import { meaningOf } from './refusal.ts'
import type { RequiredCall } from './tools.ts'
import type { ChatReply } from './wire.ts'

/** Translates a whole reply to a completion; `required`: the call that it must be. Throws `UpstreamError` for an error, `Error` for any other body. */
export function toCompletion(body: unknown, required?: RequiredCall): TranslatedCompletion {
  const reply = readReply(body)
  const message = readMessage(reply)
  if (isOver(reply)) expectAnswer(reply, message.content !== '' || message.calls.length > 0)
  const { content, thinking, calls } = required ? asCall(message, required) : message
  const tokens = toTokens(reply.logprobs)
  return {
    choices: [
      {
        message: {
          content: content === '' && calls.length > 0 ? null : content,
          ...(thinking && { reasoning_content: thinking }),
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id, name, json }) => ({ id, type: 'function', function: { name, arguments: json } })),
          }),
        },
        finish_reason: toFinishReason(reply, calls.length),
        ...(tokens.length > 0 && { logprobs: { content: tokens, refusal: null } }),
      },
    ],
    usage: toUsage(reply),
  }
}

/** Reads a reply, or a line of one. Throws `UpstreamError` for an error, `Error` for any other value. */
export function readReply(value: unknown): ChatReply {
  const reply: ChatReply = isRecord(value) ? value : {}
  if (typeof reply.error === 'string') throw new UpstreamError(meaningOf(reply.error, 500))
  if (!isRecord(reply.message)) throw new Error('The reply is not one of /api/chat.')
  return reply
}

/** The message of a reply, or of one line of it. */
export interface ReplyMessage {
  readonly content: string
  readonly thinking: string
  readonly calls: readonly Call[]
}

/** A tool call; `json`: its arguments. */
export interface Call {
  readonly id: string
  readonly name: string
  readonly json: string
}

/** Reads a reply's message. Unknown members are ignored; throws an Error for a known one of another type. */
export function readMessage({ message }: ChatReply): ReplyMessage {
  const { content, thinking, tool_calls } = isRecord(message) ? message : {}
  if (content == null && thinking == null && tool_calls == null) throw new Error('The message has nothing in it.')
  const calls = expectObjects(tool_calls, 'tool_calls').map(readCall)
  return { content: expectText(content, 'content'), thinking: expectText(thinking, 'thinking'), calls }
}

/** Older versions of Ollama give calls no id. */
function readCall({ id, function: called }: Readonly<Record<string, unknown>>): Call {
  const { index: _, name, arguments: values, ...others } = expectObject(called, 'function') ?? {}
  return { id: expectCallId(id), name: expectName(name), json: expectArguments(values, others) }
}

/** A message whose content is the call that the request required. A content that was cut before its name is left as it is. */
function asCall(message: ReplyMessage, required: RequiredCall): ReplyMessage {
  const call = readRequired(message.content, required)
  return call === undefined ? message : { ...message, content: '', calls: [call] }
}

/** The call in the content of a reply to a request that requires one; undefined if there is none. */
export function readRequired(content: string, { name }: RequiredCall): Call | undefined {
  const id = newCallId()
  if (name !== undefined) return content === '' ? undefined : { id, name, json: content }
  const { name: chosen, arguments: values } = parseRecord(content) ?? {}
  return typeof chosen === 'string' && isRecord(values) ? { id, name: chosen, json: JSON.stringify(values) } : undefined
}

/** An id for a call to which Ollama gives none. OpenAI refuses ids of more than 40 characters, which a client might send it in its next turn. */
export const newCallId = (): string => `call_${randomUUID().replaceAll('-', '')}`

/** Whether a reply, or a line of it, is the last. Throws an Error for what is neither true nor false. */
export function isOver({ done }: ChatReply): boolean {
  if (done != null && typeof done !== 'boolean') throw new Error('unknown shape: done')
  return done === true
}

/** Throws an Error for an end that has neither an answer before it nor a reason. */
export function expectAnswer({ done_reason: reason }: ChatReply, hasAnswer: boolean): void {
  if (!hasAnswer && reason == null) throw new Error('The reply has neither content nor a reason.')
}

/** Ollama's `done_reason` as OpenAI's `finish_reason`: `stop` also ends a reply with tool calls, and an unknown reason is `length`. */
export function toFinishReason({ done_reason: reason }: ChatReply, calls: number): FinishReason {
  if ((expectText(reason, 'done_reason') || 'stop') !== 'stop') return 'length'
  return calls > 0 ? 'tool_calls' : 'stop'
}

/** Undefined if Ollama reports no counts. */
export function toUsage({ prompt_eval_count: prompt, eval_count: completion }: ChatReply): Partial<Usage> | undefined {
  if (!isCount(prompt)) return isCount(completion) ? { completion_tokens: completion } : undefined
  // It is omitted if it is 0.
  if (!isCount(completion ?? 0)) return { prompt_tokens: prompt }
  return { prompt_tokens: prompt, completion_tokens: countOf(completion), total_tokens: prompt + countOf(completion) }
}

/** Ollama's `logprobs` as the `content` of OpenAI's. */
export function toTokens(logprobs: unknown): readonly (TokenLogprob & { readonly top_logprobs: readonly TokenLogprob[] })[] {
  if (!Array.isArray(logprobs)) return []
  return logprobs.filter(isRecord).map((chosen) => {
    const alternatives = Array.isArray(chosen.top_logprobs) ? chosen.top_logprobs.filter(isRecord) : []
    return { ...toToken(chosen), top_logprobs: alternatives.map(toToken) }
  })
}

function toToken({ token, logprob }: Readonly<Record<string, unknown>>): TokenLogprob {
  return toTokenLogprob(token, logprob)
}
