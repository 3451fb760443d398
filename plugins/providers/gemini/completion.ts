import { isRecord, type ToolCall, type TranslatedCompletion } from 'unified-model-gateway/plugin'
import { callId, idBase } from './call-ids.ts'
import { candidatesOf, type Piece, piecesOf } from './candidate.ts'
import { toFinishReason } from './finish.ts'
import { toLogprobs } from './logprobs.ts'
import { readReply } from './refusal.ts'
import { toFreight } from './signatures.ts'
import { toUsage } from './usage.ts'
import type { Candidate } from './wire.ts'

type Choice = TranslatedCompletion['choices'][number]

/** A whole reply as a completion. Throws `UpstreamError` for an error in a reply's place, `Error` for anything else. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply = readReply(body)
  const id = typeof reply.responseId === 'string' ? reply.responseId : undefined
  const base = idBase(id)
  const choices = candidatesOf(reply.candidates).map(({ index, candidate }) => toChoice(candidate, base, index))
  const isBlocked = reply.promptFeedback?.blockReason != null
  if (choices.length === 0 && !isBlocked) throw new Error('The reply has no candidates.')
  return {
    ...(id && { id }),
    choices: choices.length > 0 ? choices : [BLOCKED],
    usage: toUsage(isRecord(reply.usageMetadata) ? reply.usageMetadata : {}),
  }
}

/** Google refused the prompt. */
const BLOCKED: Choice = { message: { content: '' }, finish_reason: 'content_filter' }

function toChoice(candidate: Candidate, base: string, index: number): Choice {
  const pieces = piecesOf(candidate)
  const calls = toToolCalls(pieces, (call) => callId(base, index, call))
  const text = textOf(pieces, 'text')
  const thought = textOf(pieces, 'thought')
  const images = pieces.flatMap((piece) => (piece.kind === 'image' ? [{ type: 'image_url', image_url: { url: piece.url } }] : []))
  const logprobs = toLogprobs(candidate.logprobsResult)
  return {
    message: {
      content: text === '' && calls.length > 0 ? null : text,
      ...(thought && { reasoning_content: thought }),
      ...(images.length > 0 && { images }),
      ...(calls.length > 0 && { tool_calls: calls }),
    },
    finish_reason: toFinishReason(candidate.finishReason, calls.length),
    ...(logprobs && { logprobs }),
  }
}

/** All text of one kind, with nothing put between. */
function textOf(pieces: readonly Piece[], kind: 'text' | 'thought'): string {
  return pieces.map((piece) => (piece.kind === kind ? piece.text : '')).join('')
}

function toToolCalls(pieces: readonly Piece[], idOf: (call: number) => string): ToolCall[] {
  const calls: ToolCall[] = []
  for (const piece of pieces) {
    if (piece.kind === 'call') {
      const called = { name: piece.name, arguments: piece.json }
      calls.push({ id: piece.id ?? idOf(calls.length), type: 'function', function: called, ...toFreight(piece.signature) })
    } else if (piece.kind === 'signature' && calls.length > 0 && !calls.some((call) => call.extra_content)) {
      Object.assign(calls[0]!, toFreight(piece.signature))
    }
  }
  return calls
}
