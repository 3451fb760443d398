import type { Attempt } from '../plugin/api.ts'

/** A try as its provider sees it. The signal is made when asked for: most providers do no I/O of their own. */
export class SeenAttempt implements Attempt {
  readonly number: number
  readonly model: string
  readonly credentialRefused: boolean
  #controller: AbortController | undefined
  #aborted = false

  constructor(number: number, model: string, credentialRefused: boolean) {
    this.number = number
    this.model = model
    this.credentialRefused = credentialRefused
  }

  get signal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#aborted) this.#controller.abort()
    return this.#controller.signal
  }

  abort(): void {
    this.#aborted = true
    this.#controller?.abort()
  }
}
