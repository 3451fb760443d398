import { readOverflow } from '../context-overflow.ts'

/** How Anthropic begins. */
const OWN = /^(?:prompt is too long|input length and `max_tokens` exceed context limit)/i

/**
 * An upstream's message about an exceeded context, begun as Anthropic begins it: by these words Claude Code asks for a shorter answer, or makes
 * its conversation shorter (Claude Code 2.1.197).
 */
export function overflowMessage(message: string): string {
  if (OWN.test(message)) return message
  const { prompt, output, limit } = readOverflow(message) ?? {}
  if (prompt === undefined || limit === undefined) return `prompt is too long: ${message}`
  if (output !== undefined && prompt < limit) {
    return `input length and \`max_tokens\` exceed context limit: ${prompt} + ${output} > ${limit}. ${message}`
  }
  return `prompt is too long: ${prompt} tokens > ${limit} maximum. ${message}`
}
