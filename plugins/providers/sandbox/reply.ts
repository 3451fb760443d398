import type { Call, ChatCompletion, ChatDelta, ChunkChoice, FunctionToolCall, Usage } from 'unified-model-gateway/plugin'
import { type Answer, answerTo } from './answer.ts'
import { messageText, readPrompt } from './directives.ts'
import { type Identity, identify } from './identity.ts'
import type { PacedReply } from './pace.ts'
import { catchRefusal, requestedError } from './refusal.ts'
import { wholeReply } from './whole.ts'
import { countWords } from './words.ts'

/** Makes the reply to a chat completion request. The same call gets the same reply. */
export function replyToChat(call: Call): PacedReply {
  return catchRefusal(call, 'messages', () => {
    const prompt = readPrompt(call.body.messages)
    const error = requestedError(prompt.directives)
    if (error !== undefined) return error
    const identity = identify(call)
    const answer = answerTo(call, prompt, identity.toolCallId)
    const usage = usageOf(call, answer)
    if (call.stream) {
      const frames = toFrames(call, identity, answer, usage)
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, frames, pacing: prompt.directives }
    }
    return wholeReply(JSON.stringify(toCompletion(call, identity, answer, usage)), prompt.directives)
  })
}

/** In words: the prompt's are those of all messages, the completion's the deltas of all choices. */
function usageOf({ body, choices }: Call, { deltas }: Answer): Usage {
  const prompt = body.messages.reduce((sum, message) => sum + countWords(messageText(message)), 0)
  const completion = deltas.length * choices
  const reasoning = deltas.filter((delta) => 'reasoning_content' in delta).length * choices
  return {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 0 },
    completion_tokens_details: { reasoning_tokens: reasoning },
  }
}

const FINGERPRINT = 'fp_sandbox'

/** A whole reply: the answer once per choice. */
function toCompletion(call: Call, { id, created }: Identity, answer: Answer, usage: Usage): ChatCompletion {
  const message = toMessage(answer.deltas)
  return {
    id: `chatcmpl-${id}`,
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

function toMessage(deltas: readonly ChatDelta[]): ChatCompletion['choices'][number]['message'] {
  const reasoning = deltas.map((delta) => delta.reasoning_content ?? '').join('')
  const calls = toToolCalls(deltas)
  const content = deltas.map((delta) => delta.content ?? '').join('')
  return {
    role: 'assistant',
    content: calls.length > 0 ? null : content,
    refusal: null,
    ...(reasoning !== '' && { reasoning_content: reasoning }),
    ...(calls.length > 0 && { tool_calls: calls }),
  }
}

function toToolCalls(deltas: readonly ChatDelta[]): FunctionToolCall[] {
  const calls: FunctionToolCall[] = []
  for (const part of deltas.flatMap(({ tool_calls }) => tool_calls ?? [])) {
    const { index, id, function: piece } = part
    const call = calls[index]
    if (call !== undefined) call.function.arguments += piece!.arguments!
    else calls[index] = { id: id!, type: 'function', function: { name: piece!.name!, arguments: '' } }
  }
  return calls
}

/**
 * A streamed reply as SSE frames: the choices alternate, delta by delta; then the usage, which core removes if the client did not request
 * it, and the end marker.
 */
function* toFrames(call: Call, { id, created }: Identity, answer: Answer, usage: Usage): Generator<string> {
  const envelope = {
    id: `chatcmpl-${id}`,
    object: 'chat.completion.chunk',
    created,
    model: call.model.id,
    system_fingerprint: FINGERPRINT,
  }
  const choices = Array.from({ length: call.choices }, (_, index) => index)
  for (const part of toParts(answer)) {
    for (const index of choices) {
      const chunk = { ...envelope, choices: [{ index, ...part, logprobs: null }], ...(call.includeUsage && { usage: null }) }
      yield toFrame(chunk)
    }
  }
  yield toFrame({ ...envelope, choices: [], usage })
  yield 'data: [DONE]\n\n'
}

/** The chunks of one choice: the role, the answer's deltas, the finish reason. */
function* toParts({ deltas, finish }: Answer): Generator<Pick<ChunkChoice, 'delta' | 'finish_reason'>> {
  const role: ChatDelta = { role: 'assistant', content: deltas.some(({ tool_calls }) => tool_calls) ? null : '', refusal: null }
  yield { delta: role, finish_reason: null }
  for (const delta of deltas) yield { delta, finish_reason: null }
  yield { delta: {}, finish_reason: finish }
}

const toFrame = (chunk: object): string => `data: ${JSON.stringify(chunk)}\n\n`
