import { createHash } from 'node:crypto'
import type { Call, ChatCompletion, ChatDelta, ChunkChoice, FunctionToolCall, Usage } from 'unified-model-gateway/plugin'
import { type Answer, answerTo } from './answer.ts'
import { messageText, readPrompt } from './directives.ts'
import type { PacedReply } from './pace.ts'
import { catchRefusal, requestedError } from './refusal.ts'
import { countWords } from './words.ts'

/** Makes the reply to a chat completion request. The same call gets the same reply. */
export function replyToChat(call: Call): PacedReply {
  return catchRefusal(call, 'messages', () => {
    const prompt = readPrompt(call.body.messages)
    const { delay, cut, stall } = prompt.directives
    const error = requestedError(prompt.directives)
    if (error !== undefined) return error
    const identity = identify(call)
    const answer = answerTo(call, prompt, identity.toolCallId)
    const usage = usageOf(call, answer)
    if (call.stream) {
      const frames = toFrames(call, identity, answer, usage)
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, frames, pacing: prompt.directives }
    }
    const frames = halves(JSON.stringify(toCompletion(call, identity, answer, usage)))
    const pacing = { delay, cut: cut && 1, stall: stall && 1 }
    return { status: 200, headers: { 'content-type': 'application/json' }, frames, pacing }
  })
}

/** Two frames: a whole reply can be cut, or stall, in its middle. */
const halves = (text: string): readonly string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

/** The ids and the time of a reply: the same for the same request. */
interface Identity {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  toolCallId(index: number): string
}

/** 2023-11-14T22:13:20Z, and the year after it. */
const EPOCH = 1_700_000_000
const YEAR = 31_536_000

/** Derives a reply's identity from the model and the body's bytes. */
function identify(call: Call): Identity {
  const digest = createHash('sha256').update(JSON.stringify(call.model.id)).update(call.splice({})).digest()
  const hex = digest.toString('hex')
  return {
    id: `chatcmpl-${hex.slice(0, 24)}`,
    created: EPOCH + (digest.readUInt32BE(12) % YEAR),
    toolCallId: (index) => `call_${hex.slice(32, 54)}${index.toString().padStart(2, '0')}`,
  }
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
  const envelope = { id, object: 'chat.completion.chunk', created, model: call.model.id, system_fingerprint: FINGERPRINT }
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
