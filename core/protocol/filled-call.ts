import { closeFacade } from '../plugins/facade.ts'
import type { Call, ChatRequest } from '../sdk/api.ts'

/** The route's default parameters that the client did not send, or sent as null. */
type Defaults = Readonly<Record<string, unknown>>

/** The call as the provider sees it: with the route's default parameters that the client did not send. */
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
  get large() {
    return this.#call.large
  }
  get media() {
    return this.#call.media
  }
  get keptTokens() {
    return this.#call.keptTokens
  }
  get keys() {
    return [...new Set([...this.#call.keys, ...Object.keys(this.#missing)])]
  }
  get headers() {
    return this.#call.headers
  }
  get body(): Readonly<ChatRequest> {
    return { ...this.#call.body, ...this.#missing }
  }

  get form() {
    const form = this.#call.form?.bind(this.#call)
    return form && ((members: Readonly<Record<string, unknown>>) => form({ ...this.#missing, ...members }))
  }

  get files() {
    return this.#call.files?.bind(this.#call)
  }

  mayHave(names: readonly string[]): boolean {
    return this.#call.mayHave(names)
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

closeFacade(FilledCall)
