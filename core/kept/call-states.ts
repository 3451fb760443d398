import { withTimeout } from '../async/timeout.ts'
import type { Keeper } from '../protocol/kept-ids.ts'
import {
  type Call,
  type CallFunction,
  type CallStates,
  defineCallFunction,
  type HostCounter,
  idsWithoutState,
  parseRecord,
} from '../sdk/api.ts'
import { keysOfKeeper, SealedValues } from './sealed-values.ts'
import type { ValueStore } from './value-store.ts'

const SPACE = 'call-states'

/** How long a call waits for the states of its tool calls, in milliseconds: without them the model answers too, if not as well. */
const WAIT_MS = 500

/** The most tool calls of a conversation whose states are sought: the last ones. */
const MAX_SOUGHT = 256

/**
 * The shortest id whose state is kept: one that counts calls, such as `call_0`, comes again in the account's next conversation. Those of vendors have
 * 20 random characters or more.
 */
const MIN_ID = 16

/** The ids of tool calls in a call whose states are sought; of a large one in a thread. */
export const soughtIds = defineCallFunction(import.meta.url, 'soughtIds', (call): readonly string[] =>
  idsWithoutState(call.body).filter(isKept).slice(-MAX_SOUGHT),
)

const isKept = (id: unknown): id is string => typeof id === 'string' && id.length >= MIN_ID

/** The options of `KeptCallStates`. */
export interface CallStatesOptions {
  readonly values: ValueStore
  readonly threads: { compute<Input, Result>(call: Call, fn: CallFunction<Input, Result>, input: Input): Promise<Result> }
  /** Counts states: by space and result. */
  readonly uses: HostCounter
}

/**
 * Keeps what upstreams want back with the results of tool calls, for clients of chat completions: most of them drop the `extra_content` of a call.
 * Nothing here delays or fails a call: what is late or lost costs quality (docs/decisions/kept-values.md).
 */
export class KeptCallStates {
  readonly #values: ValueStore
  readonly #threads: CallStatesOptions['threads']
  readonly #uses: HostCounter

  constructor({ values, threads, uses }: CallStatesOptions) {
    this.#values = values
    this.#threads = threads
    this.#uses = uses
  }

  /** The states that were kept for the tool calls of a call, within half a second. */
  async recall(call: Call, keeper: Keeper): Promise<CallStates> {
    const states = new Map<string, Readonly<Record<string, unknown>>>()
    let ids: readonly string[] | undefined
    try {
      ids = call.large ? await this.#threads.compute(call, soughtIds, undefined) : soughtIds.run(call, undefined)
      if (ids.length === 0) return states
      const found = await withTimeout(WAIT_MS, this.#sealedBy(keeper).get(ids))
      for (const [id, value] of found) {
        const state = parseRecord(value.toString())
        if (state !== undefined) states.set(id, state)
      }
      this.#count(states.size, 'found')
      this.#count(ids.length - states.size, 'missing')
    } catch {
      this.#count(ids?.length ?? 1, 'unavailable')
    }
    return states
  }

  /** Keeps the states of a reply to a call, unless its client gives back those of earlier replies. */
  keep(call: Call, keeper: Keeper, states: CallStates): void {
    if (call.mayHave(['extra_content'])) return
    const kept = new Map(
      Array.from(states)
        .filter(([id]) => isKept(id))
        .map(([id, state]) => [id, Buffer.from(JSON.stringify(state))]),
    )
    if (kept.size === 0) return
    this.#sealedBy(keeper)
      .put(kept)
      .then(
        (result) => this.#count(kept.size, result),
        () => this.#count(kept.size, 'unavailable'),
      )
  }

  #sealedBy(keeper: Keeper): SealedValues {
    return new SealedValues(this.#values, { space: SPACE, account: keeper.account }, [keysOfKeeper(SPACE, keeper)])
  }

  #count(states: number, result: string): void {
    if (states > 0) this.#uses.add(states, SPACE, result)
  }
}
