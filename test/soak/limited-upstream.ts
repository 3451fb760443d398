import { setTimeout as delay } from 'node:timers/promises'
import { json, type ReceivedRequest, type ScriptedUpstream, type Step } from '../../core/testing/kit.ts'

/** What one call used, and when it arrived, in milliseconds. */
export interface Arrival {
  readonly at: number
  readonly tokens: number
}

/** What an upstream sees of the calls to one namespace. */
export class Seen {
  readonly arrivals: Arrival[] = []
  /** The most calls that were under way at once. */
  most = 0
  #underWay = 0
  /** Calls under way times milliseconds. */
  #busy = 0
  #changedAt = performance.now()

  change(by: number): void {
    const now = performance.now()
    this.#busy += this.#underWay * (now - this.#changedAt)
    this.#changedAt = now
    this.#underWay += by
    this.most = Math.max(this.most, this.#underWay)
  }

  /** Calls under way times milliseconds, until now. */
  get busy(): number {
    this.change(0)
    return this.#busy
  }

  /** What arrived in each window of a limit, which begins with the first arrival after the end of the last one. */
  windows(ms: number): readonly (readonly Arrival[])[] {
    const windows: Arrival[][] = []
    let startedAt = Number.NEGATIVE_INFINITY
    for (const arrival of this.arrivals) {
      if (arrival.at - startedAt >= ms - JITTER_MS) {
        startedAt = arrival.at
        windows.push([])
      }
      windows.at(-1)!.push(arrival)
    }
    return windows
  }
}

/** The way to the upstream takes longer for one call than for another. */
const JITTER_MS = 500
/** How long a call of the namespace `places` takes, in milliseconds. */
const CALL_MS = 2000
/** The tokens of each prompt: fewer than the gateway estimates. */
const PROMPT_TOKENS = 10

/**
 * Answers all calls, and notes for each namespace what arrives. A call to `places` takes two seconds; each answer has a random number of
 * tokens up to `max_tokens`.
 */
export function serveLimited(open: ScriptedUpstream): (namespace: string) => Seen {
  const seen = new Map<string, Seen>()
  const seenBy = (namespace: string): Seen => {
    const known = seen.get(namespace) ?? new Seen()
    seen.set(namespace, known)
    return known
  }
  open.on((request) => {
    const namespace = request.path.split('/')[1]!
    return answer(request, seenBy(namespace), namespace === 'places' ? CALL_MS : 0)
  })
  return seenBy
}

async function* answer(request: ReceivedRequest, seen: Seen, ms: number): AsyncGenerator<Step> {
  const { max_tokens: cap = 1 } = request.json() as { readonly max_tokens?: number }
  const completion = Math.ceil(Math.random() * cap)
  const tokens = PROMPT_TOKENS + completion
  seen.arrivals.push({ at: performance.now(), tokens })
  seen.change(1)
  if (ms > 0) await delay(ms)
  // Before the reply: the gateway cannot have given the place to another call.
  seen.change(-1)
  yield* json({
    id: 'c',
    object: 'chat.completion',
    created: 1,
    model: 'm',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: PROMPT_TOKENS, completion_tokens: completion, total_tokens: tokens },
  })
}
