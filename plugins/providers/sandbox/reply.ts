import type { Call } from 'unified-model-gateway/plugin'
import { answerTo } from './answer.ts'
import { completion } from './completion.ts'
import type { Directives } from './directives.ts'
import { identify } from './identity.ts'
import { readPrompt } from './prompt.ts'
import { type Fault, faultOf, Refusal } from './refusal.ts'
import { streamFrames } from './stream.ts'
import { usageOf } from './usage.ts'

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
