import type { Call, ChatCompletion, ChatDelta, FunctionToolCall, Usage } from 'unified-model-gateway/plugin'
import type { Answer } from './answer.ts'
import type { Identity } from './identity.ts'

/** A whole reply: the answer once per choice. */
export function completion(call: Call, { id, created }: Identity, answer: Answer, usage: Usage): ChatCompletion {
  const message = messageOf(answer.deltas)
  return {
    id,
    object: 'chat.completion',
    created,
    model: call.model.id,
    choices: Array.from({ length: call.choices }, (_, index) => ({
      index,
      message,
      logprobs: null,
      finish_reason: answer.finish,
    })),
    usage,
    system_fingerprint: FINGERPRINT,
  }
}

/** Which "model" made a reply. */
export const FINGERPRINT = 'fp_sandbox'

function messageOf(deltas: readonly ChatDelta[]): ChatCompletion['choices'][number]['message'] {
  const reasoning = deltas.map((delta) => delta.reasoning_content ?? '').join('')
  const calls = toolCallsOf(deltas)
  const content = deltas.map((delta) => delta.content ?? '').join('')
  return {
    role: 'assistant',
    content: calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function toolCallsOf(deltas: readonly ChatDelta[]): FunctionToolCall[] {
  const calls: FunctionToolCall[] = []
  for (const part of deltas.flatMap(({ tool_calls }) => tool_calls ?? [])) {
    const { index, id, function: piece } = part
    const call = calls[index]
    if (call !== undefined) call.function.arguments += piece!.arguments!
    else calls[index] = { id: id!, type: 'function', function: { name: piece!.name!, arguments: '' } }
  }
  return calls
}
