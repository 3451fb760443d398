import type { KeptReply } from '../protocol/kept-reply.ts'
import type { KeptResponses, NewTurn } from './kept-responses.ts'

/** The reply to a call of `/v1/responses` with `background: true`. */
export class BackgroundReply implements KeptReply {
  readonly id: string
  readonly previous: string | null
  readonly isBackground = true
  readonly call: Pick<NewTurn, 'chain' | 'input'>
  readonly #responses: KeptResponses
  #isAwaited = false
  /** The complete response, a JSON text; undefined until it is there. */
  response: string | undefined

  constructor(id: string, call: BackgroundReply['call'], responses: KeptResponses) {
    this.id = id
    this.previous = call.chain.at(-1) ?? null
    this.call = call
    this.#responses = responses
  }

  /** Its call goes on in the background, and keeps the response when it has ended. */
  await(): void {
    this.#isAwaited = true
  }

  /** The reply of a link is there at once. */
  complete(response: string): void {
    this.response = response
    if (!this.#isAwaited) this.#responses.keep(this.id, { ...this.call, response })
  }
}
