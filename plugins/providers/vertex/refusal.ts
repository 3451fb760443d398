import { isRecord, parseRecord, type UpstreamRefusal } from 'unified-model-gateway/plugin'
import { toRefusal as toClaudeRefusal } from '../anthropic/refusal.ts'
import { toRefusal as toGoogleRefusal } from '../gemini/refusal.ts'

/** Reads an error reply: a Claude's errors are Anthropic's, all others are Google's. */
export function toRefusal(reply: { readonly status: number; readonly body: string }, project: string): UpstreamRefusal {
  const { error } = parseRecord(reply.body) ?? {}
  const isClaudes = isRecord(error) && typeof error.type === 'string'
  const { message, ...refusal } = isClaudes ? toClaudeRefusal(reply) : toGoogleRefusal(reply)
  // Google's messages quote the resource with its project, which clients must not see.
  return { ...refusal, ...(message !== undefined && { message: message.replaceAll(project, '…') }) }
}
