import type { TranslatedCompletion } from 'unified-model-gateway/plugin'
import { toTokens } from './logprobs.ts'
import { readMessage, readReply, toFinishReason, toUsage } from './reply.ts'

/** A whole reply as a completion. Throws `UpstreamError` for an error in a reply's place, `Error` for anything else. */
export function toCompletion(body: unknown): TranslatedCompletion {
  const reply = readReply(body)
  const { content, thinking, calls } = readMessage(reply)
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
