import { type AskedThinking, isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { GenerationConfig } from './interaction-wire.ts'
import type { ModelFacts } from './models.ts'
import { expectEffort, nearestLevel } from './reasoning.ts'

/** What the client asks for, as this API takes it: a level, of every model that thinks. Throws `GatewayError` (400) for an unknown effort. */
export function toThinking(
  asked: AskedThinking | undefined,
  facts: ModelFacts,
): { readonly sent: GenerationConfig; readonly dropped?: boolean } {
  if (asked === undefined) return { sent: {} }
  const { level } = expectEffort(asked)
  const isOff = asked.effort === 'none'
  if (facts.thinking === 'none') return { sent: {}, dropped: !isOff }
  const sent = {
    thinking_level: nearestLevel(level, facts).toLowerCase(),
    ...(!isOff && { thinking_summaries: 'auto' as const }),
  }
  return { sent, dropped: asked.budget !== undefined }
}

/**
 * The signatures of the thoughts that led to a tool call, for the client to keep with it: as generateContent's, and all of them where there are several
 * ("Thinking", ai.google.dev: each thought step has one, and a stateless client sends it back).
 */
export function toThoughtState(
  signatures: readonly string[],
): { readonly extra_content: { readonly google: object } } | undefined {
  if (signatures.length === 0) return undefined
  const several = signatures.length > 1 && { thought_signatures: signatures }
  return { extra_content: { google: { thought_signature: signatures.at(-1)!, ...several } } }
}

/** The signatures that a client sends back with a tool call. */
export function readThoughtState({ extra_content: extra }: ToolCall): readonly string[] {
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {}
  const { thought_signature: last, thought_signatures: all = [last] } = google
  return Array.isArray(all)
    ? all.filter((signature): signature is string => typeof signature === 'string' && signature !== '')
    : []
}
