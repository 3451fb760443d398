import { isRecord, parseRecord, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import { toRefusal as toClaudeRefusal } from '../anthropic/refusal.ts'
import { toRefusal as toGoogleRefusal } from '../gemini/refusal.ts'

/** What a reply with an error status means, whoever wrote it: a Claude's own errors come as Anthropic's, all others as Google's. */
export function toRefusal(reply: { readonly status: number; readonly body: string }, project: string): UpstreamRefusal {
  const { error } = parseRecord(reply.body) ?? {}
  const isClaudes = isRecord(error) && typeof error.type === 'string'
  const { message, ...refusal } = isClaudes ? toClaudeRefusal(reply) : toGoogleRefusal(reply)
  // Google quotes the resource that was asked for: whose project it is, is no client's affair.
  return { ...refusal, ...(message !== undefined && { message: message.replaceAll(project, '…') }) }
}
