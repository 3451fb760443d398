import { createHash } from 'node:crypto'
import type { Call, ChatCompletion, ChatDelta, ChunkChoice, FunctionToolCall, Usage } from 'unified-model-gateway/plugin'
import { type Answer, answerTo } from './answer.ts'
import { type Directives, readPrompt, textOf } from './directives.ts'
import { type Fault, faultOf, Refusal } from './refusal.ts'
import { countWords } from './words.ts'

/** A reply before it is sent: what, and how it is slowed or broken off. */
export interface Reply {
  readonly status: number
  readonly headers: Readonly<Record<string, string>>
  readonly frames: Iterable<string>
  readonly pacing: Pick<Directives, 'delay' | 'interval' | 'cut' | 'stall'>
}

/** Decides on the reply to a call. The same call gets the same reply. */
export function replyTo(call: Call): Reply {
  return orFault(() => {
    const prompt = readPrompt(call.body.messages)
    const { delay, cut, stall } = prompt.directives
    const fault = faultAskedFor(prompt.directives)
    if (fault !== undefined) return fault
    const identity = identify(call)
    const answer = answerTo(call, prompt, identity.toolCallId)
    const usage = usageOf(call, answer)
    if (call.stream) {
      const frames = streamFrames(call, identity, answer, usage)
      return { status: 200, headers: { 'content-type': 'text/event-stream' }, frames, pacing: prompt.directives }
    }
    const frames = halves(JSON.stringify(completion(call, identity, answer, usage)))
    const pacing = { delay, cut: cut && 1, stall: stall && 1 }
    return { status: 200, headers: { 'content-type': 'application/json' }, frames, pacing }
  })
}

/** The reply that `make` makes; where it throws a `Refusal`, the 400 that this is. */
export function orFault(make: () => Reply): Reply {
  try {
    return make()
  } catch (error) {
    if (error instanceof Refusal) return failing(error.toFault())
    throw error
  }
}

/** The refusal that `sandbox: status=…` asks for; undefined where nothing does. */
export function faultAskedFor({ status, 'retry-after': retryAfter, delay }: Directives): Reply | undefined {
  return status === undefined ? undefined : failing(faultOf(status, retryAfter), delay)
}

const failing = ({ status, headers, body }: Fault, delay?: number): Reply => ({
  status,
  headers,
  frames: [body],
  pacing: { delay },
})

/** So that a whole reply can be broken off, or stall, in its middle. */
const halves = (text: string): readonly string[] => [text.slice(0, text.length / 2), text.slice(text.length / 2)]

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

/** What a reply calls itself: the same for the same request. */
export interface Identity {
  readonly id: string
  /** Unix seconds. */
  readonly created: number
  toolCallId(index: number): string
}

/** 2023-11-14T22:13:20Z, and a year from there on. */
const EPOCH = 1_700_000_000
const YEAR = 31_536_000

/** Derives the reply's identity from the model and the body's bytes. */
export function identify(call: Call): Identity {
  const digest = createHash('sha256').update(JSON.stringify(call.model.id)).update(call.splice({})).digest()
  const hex = digest.toString('hex')
  return {
    id: `chatcmpl-${hex.slice(0, 24)}`,
    created: EPOCH + (digest.readUInt32BE(12) % YEAR),
    toolCallId: (index) => `call_${hex.slice(32, 54)}${index.toString().padStart(2, '0')}`,
  }
}

/** What a call uses, in words: those of all messages, and the deltas of all choices. */
export function usageOf({ body, choices }: Call, { deltas }: Answer): Usage {
  const prompt = body.messages.reduce((sum, message) => sum + countWords(textOf(message)), 0)
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
