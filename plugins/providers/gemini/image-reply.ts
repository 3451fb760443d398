import { isRecord, textOf, UpstreamError } from 'unified-model-gateway/plugin'
import { readReply } from './refusal.ts'
import { candidatesOf, toFinishReason, toUsage } from './reply.ts'

/** Translates a reply of generateContent with pictures. Throws `UpstreamError` for a refusal of Google's filters, `Error` for a reply without a picture. */
export function toImages(body: unknown): object {
  const reply = readReply(body)
  const [first] = candidatesOf(reply.candidates)
  const content = first?.candidate.content
  const parts: readonly unknown[] = isRecord(content) && Array.isArray(content.parts) ? content.parts : []
  const pictures = parts.flatMap((part) => {
    const { thought, inlineData } = isRecord(part) ? part : {}
    return thought !== true && isRecord(inlineData) && typeof inlineData.data === 'string' ? [inlineData] : []
  })
  if (pictures.length === 0) throw withoutPicture(first?.candidate.finishReason, reply.promptFeedback)
  const usage = toUsage(isRecord(reply.usageMetadata) ? reply.usageMetadata : {})
  return {
    created: Math.floor(Date.now() / 1000),
    data: pictures.map(({ data }) => ({ b64_json: data })),
    output_format: textOf(pictures[0]!.mimeType).replace('image/', ''),
    ...(usage && {
      usage: {
        input_tokens: usage.prompt_tokens,
        output_tokens: usage.completion_tokens,
        total_tokens: usage.total_tokens,
        input_tokens_details: usage.prompt_tokens_details,
        output_tokens_details: usage.completion_tokens_details,
      },
    }),
  }
}

/** OpenAI's code for a picture that its filters refuse. */
function withoutPicture(reason: unknown, feedback: unknown): Error {
  const isBlocked = isRecord(feedback) && feedback.blockReason != null
  if (isBlocked || toFinishReason(reason, 0) === 'content_filter') {
    const message = "Google's filters refused the picture."
    return new UpstreamError({ status: 400, code: 'moderation_blocked', message, param: 'prompt' })
  }
  return new Error(`The reply has no picture, and ended with ${textOf(reason) || 'no reason'}.`)
}
