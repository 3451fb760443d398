import { randomUUID } from 'node:crypto'
import { type FinishReason, isRecord, UpstreamError, type Usage } from 'unified-model-gateway/plugin'
import { meaningOf } from './refusal.ts'
import type { ChatReply } from './wire.ts'

/** What the model says in a reply, or in one line of it. */
export interface Said {
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

/** A reply, or a line of one. Throws `UpstreamError` for an error in its place, `Error` for what is neither. */
export function readReply(value: unknown): ChatReply {
  const reply: ChatReply = isRecord(value) ? value : {}
  if (typeof reply.error === 'string') throw new UpstreamError(meaningOf(reply.error, 500))
  if (!isRecord(reply.message)) throw new Error('The reply is none of /api/chat.')
  return reply
}

/** The words, thoughts and calls of a message. Whatever else it has is passed over. */
export function readMessage({ message }: ChatReply): Said {
  const { content, thinking, tool_calls } = isRecord(message) ? message : {}
  const calls: readonly unknown[] = Array.isArray(tool_calls) ? tool_calls : []
  return { content: textOf(content), thinking: textOf(thinking), calls: calls.flatMap(readCall) }
}

/** Why a reply ended. Ollama says `stop` of one that calls tools; an unknown word is `stop`, for clients know no others. */
export function toFinishReason({ done_reason: reason }: ChatReply, calls: number): FinishReason {
  if (reason === 'length') return 'length'
  return calls > 0 ? 'tool_calls' : 'stop'
}

/** What a call used; undefined where Ollama does not tell the prompt's tokens. A count of none is left out. */
export function toUsage({ prompt_eval_count: prompt, eval_count }: ChatReply): Usage | undefined {
  if (!isCount(prompt)) return undefined
  const completion = isCount(eval_count) ? eval_count : 0
  return { prompt_tokens: prompt, completion_tokens: completion, total_tokens: prompt + completion }
}

/** Older versions give calls no id. A call of nothing is none. */
function readCall(value: unknown): readonly Call[] {
  if (!isRecord(value) || !isRecord(value.function)) return []
  const { arguments: values } = value.function
  const name = textOf(value.function.name)
  if (name === '') return []
  const id = textOf(value.id) || `call_${randomUUID()}`
  return [{ id, name, json: JSON.stringify(isRecord(values) ? values : {}) }]
}

const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '')
