import type { Call, ChatDelta, ChunkChoice, Usage } from 'unified-model-gateway/plugin'
import type { Answer } from './answer.ts'
import { FINGERPRINT } from './completion.ts'
import type { Identity } from './identity.ts'

/**
 * A streamed reply as SSE frames: the choices take turns, delta by delta; then the usage, which core drops where the client did not
 * ask for it, and the end marker.
 */
export function* streamFrames(call: Call, { id, created }: Identity, answer: Answer, usage: Usage): Generator<string> {
  const envelope = { id, object: 'chat.completion.chunk', created, model: call.model.id, system_fingerprint: FINGERPRINT }
  const choices = Array.from({ length: call.choices }, (_, index) => index)
  for (const part of parts(answer)) {
    for (const index of choices) {
      const chunk = { ...envelope, choices: [{ index, ...part, logprobs: null }], ...(call.includeUsage && { usage: null }) }
      yield frame(chunk)
    }
  }
  yield frame({ ...envelope, choices: [], usage })
  yield 'data: [DONE]\n\n'
}

/** The chunks of one choice, in order: the role, what it says, why it ended. */
function* parts({ deltas, finish }: Answer): Generator<Pick<ChunkChoice, 'delta' | 'finish_reason'>> {
  const role: ChatDelta = { role: 'assistant', content: deltas.some(({ tool_calls }) => tool_calls) ? null : '', refusal: null }
  yield { delta: role, finish_reason: null }
  for (const delta of deltas) yield { delta, finish_reason: null }
  yield { delta: {}, finish_reason: finish }
}

const frame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`
