import { createHash } from 'node:crypto'
import type { IdRule } from 'unified-model-gateway/plugin'

/** The ids of tool calls that Bedrock takes (`ToolUseBlock.toolUseId`). */
export const BEDROCK_IDS: IdRule = toRule(/^[a-zA-Z0-9_-]{1,64}$/, 40)
/** Those that Mistral takes, to whom Bedrock passes them on. */
export const MISTRAL_IDS: IdRule = toRule(/^[a-zA-Z0-9]{9}$/, 9)

/** What does not fit becomes a digest of itself, of so many signs. */
function toRule(fits: RegExp, length: number): IdRule {
  const digest = (text: string): string => createHash('sha256').update(text).digest('hex').slice(0, length)
  return {
    fit: (id) => (fits.test(id) ? id : digest(id)),
    copy: (fitted, number) => digest(`${number}:${fitted}`),
  }
}
