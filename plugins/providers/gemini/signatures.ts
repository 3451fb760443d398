import { isRecord, type ToolCall } from 'unified-model-gateway/plugin'
import type { ModelFacts } from './models.ts'

/**
 * Gemini's sealed thoughts. Gemini 3 answers 400 where the first function call of a step comes back without the signature it was
 * given. OpenAI has no place for it, so it rides on the call as in Google's own OpenAI dialect:
 * `tool_calls[].extra_content.google.thought_signature` ("Thought signatures", ai.google.dev).
 */
export interface SignatureFreight {
  readonly extra_content: { readonly google: { readonly thought_signature: string } }
}

/** Google's own word for a signature that was lost, or that another model's call never had. */
const LOST = 'skip_thought_signature_validator'

/** The freight of a tool call; nothing where it has no signature. */
export function toFreight(signature: string | undefined): SignatureFreight | undefined {
  return signature === undefined ? undefined : { extra_content: { google: { thought_signature: signature } } }
}

/** The signatures of the calls of one message, as the client brings them back. Of parallel calls only the first has one. */
export function signaturesOf(calls: readonly ToolCall[], facts: ModelFacts): (string | undefined)[] {
  const signatures: (string | undefined)[] = calls.map(fromFreight)
  const isSigned = signatures.some((signature) => signature !== undefined)
  return facts.signatures && !isSigned ? signatures.with(0, LOST) : signatures
}

function fromFreight({ extra_content: extra }: ToolCall): string | undefined {
  const google = isRecord(extra) && isRecord(extra.google) ? extra.google : {}
  return typeof google.thought_signature === 'string' && google.thought_signature !== '' ? google.thought_signature : undefined
}
