/** How ids are made fit. */
export interface IdRule {
  /** The id that a client's becomes. */
  fit(id: string): string
  /** Another one, where that is taken. `number`: from 2. */
  copy(fitted: string, number: number): string
}

/** Anthropic takes `^[a-zA-Z0-9_-]+$`. */
const ANTHROPIC: IdRule = {
  fit: (id) => id.replace(/[^a-zA-Z0-9_-]/g, '_') || 'call',
  copy: (fitted, number) => `${fitted}_${number}`,
}

/**
 * Gives every tool call of a conversation an id that the upstream takes, no two alike, and finds it again for the call's result. An
 * id depends on earlier messages only: the next turn gives the same ones, which prompt caches and signed thinking rely on.
 */
export class ToolIds {
  readonly #rule: IdRule
  readonly #taken = new Set<string>()
  readonly #tries = new Map<string, number>()
  /** The calls without a result: the client's id to ours, several where a client repeats itself. */
  readonly #waiting = new Map<string, string[]>()

  constructor(rule: IdRule = ANTHROPIC) {
    this.#rule = rule
  }

  /** The id of a new call. */
  call(id: string): string {
    const ours = this.#unused(this.#rule.fit(id))
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

  #unused(base: string): string {
    // Counting on from the last try keeps a thousand equal ids from costing a million look-ups.
    for (let attempt = this.#tries.get(base) ?? 1; ; attempt++) {
      const candidate = attempt === 1 ? base : this.#rule.copy(base, attempt)
      this.#tries.set(base, attempt + 1)
      if (!this.#taken.has(candidate)) return candidate
    }
  }
}
