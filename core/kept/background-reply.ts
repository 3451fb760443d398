import type { KeptReply } from '../protocol/kept-reply.ts'
import type { KeptResponses, NewTurn } from './kept-responses.ts'

/** The conversation that gets the turn of a reply. */
interface Joined {
  readonly id: string
  /** Adds the turn of a complete response, a JSON text. Never rejects. */
  add(response: string): Promise<unknown>
}

/** The reply to a call of `/v1/responses` with `background: true`. */
export class BackgroundReply implements KeptReply {
  readonly id: string
  readonly previous: string | null
  readonly conversation: string | undefined
  readonly isStored = true
  readonly isBackground = true
  readonly call: Pick<NewTurn, 'chain' | 'input'>
  readonly #responses: KeptResponses
  readonly #joined: Joined | undefined
  #isAwaited = false
  written: Promise<unknown> | undefined
  /** The complete response, a JSON text; undefined until it is there. */
  response: string | undefined

  constructor(id: string, call: BackgroundReply['call'], responses: KeptResponses, joined: Joined | undefined) {
    this.id = id
    this.previous = call.chain.at(-1) ?? null
    this.conversation = joined?.id
    this.call = call
    this.#responses = responses
    this.#joined = joined
  }

  /** Its call goes on in the background, and keeps the response when it has ended. */
  await(): void {
    this.#isAwaited = true
  }

  /** The reply of a link is there at once. */
  complete(response: string): void {
    this.response = response
    this.written = this.#joined?.add(response)
    if (!this.#isAwaited) this.#responses.keep(this.id, { ...this.call, response })
  }
}
