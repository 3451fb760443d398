import { createHash } from 'node:crypto'

/** The ids a model takes. */
export interface IdRule {
  readonly fits: RegExp
  readonly length: number
}

/** Bedrock's own rule (`ToolUseBlock.toolUseId`). */
export const BEDROCK_IDS: IdRule = { fits: /^[a-zA-Z0-9_-]{1,64}$/, length: 40 }
/** Mistral's, which Bedrock passes on. */
export const MISTRAL_IDS: IdRule = { fits: /^[a-zA-Z0-9]{9}$/, length: 9 }

/**
 * Gives every tool call of a conversation an id that its model takes, no two alike, and finds it again for the call's result. An id
 * depends on the client's id and on earlier messages only: the next turn gives the same ones, which prompt caches and signed
 * reasoning rely on.
 */
export class ToolIds {
  readonly #rule: IdRule
  readonly #taken = new Set<string>()
  readonly #copies = new Map<string, number>()
  /** The calls without a result: the client's id to ours, several where a client repeats itself. */
  readonly #waiting = new Map<string, string[]>()

  constructor(rule: IdRule) {
    this.#rule = rule
  }

  /** The id of a new call. */
  call(id: string): string {
    const ours = this.#unused(id)
    this.#taken.add(ours)
    const waiting = this.#waiting.get(id)
    if (waiting) waiting.push(ours)
    else this.#waiting.set(id, [ours])
    return ours
  }

  /** The id of the call that a result answers; undefined where no call waits for it. */
  result(id: string): string | undefined {
    const waiting = this.#waiting.get(id)
    const ours = waiting?.shift()
    if (waiting?.length === 0) this.#waiting.delete(id)
    return ours
  }

  /** The client's id of a call that waits for its result. */
  get unanswered(): string | undefined {
    return this.#waiting.keys().next().value
  }

  #unused(id: string): string {
    if (this.#rule.fits.test(id) && !this.#taken.has(id)) return id
    // Counting on from the last copy keeps a thousand equal ids from costing a million digests.
    for (let copy = this.#copies.get(id) ?? 1; ; copy++) {
      this.#copies.set(id, copy + 1)
      const candidate = createHash('sha256').update(`${copy}:${id}`).digest('hex').slice(0, this.#rule.length)
      if (!this.#taken.has(candidate)) return candidate
    }
  }
}
