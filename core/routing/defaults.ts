import type { Call, ChatRequest } from '../plugin/api.ts'

/** The parameters of a route, for those that the client sent none of, or null. */
type Defaults = Readonly<Record<string, unknown>>

/** A call as a provider sees it: the same one, with the route's parameters where the client sent none. */
export function withDefaults(call: Call, defaults: Defaults): Call {
  const missing = Object.entries(defaults).filter(([name]) => call.member(name) == null)
  return missing.length === 0 ? call : new FilledCall(call, Object.fromEntries(missing))
}

class FilledCall implements Call {
  readonly #call: Call
  readonly #missing: Defaults

  constructor(call: Call, missing: Defaults) {
    this.#call = call
    this.#missing = missing
  }

  get id() {
    return this.#call.id
  }
  get endpoint() {
    return this.#call.endpoint
  }
  get model() {
    return this.#call.model
  }
  get stream() {
    return this.#call.stream
  }
  get includeUsage() {
    return this.#call.includeUsage
  }
  get choices() {
    return (this.member('n') as number | null | undefined) ?? 1
  }
  get size() {
    return this.#call.size
  }
  get headers() {
    return this.#call.headers
  }
  get body(): Readonly<ChatRequest> {
    return { ...this.#call.body, ...this.#missing }
  }

  member(key: string): unknown {
    return Object.hasOwn(this.#missing, key) ? this.#missing[key] : this.#call.member(key)
  }

  splice(members: Readonly<Record<string, unknown>>): Buffer {
    return this.#call.splice({ ...this.#missing, ...members })
  }

  edit(pointer: string, value: unknown): void {
    this.#call.edit(pointer, value)
  }
}
