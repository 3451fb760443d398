import type { Content, FunctionCall, Part } from './wire.ts'

/** A function call as Google gets it, and the client's id for it. */
export interface ClientCall {
  readonly clientId: string
  readonly call: FunctionCall
}

interface Answered extends ClientCall {
  output: string
}

/**
 * The function calls of one message, and what the client says they gave. Google wants all results in the turn after the calls, as
 * many as there were and, where it knows no ids, in their order.
 */
export class ToolStep {
  readonly #calls: readonly Answered[]
  /** The calls without a result, by the client's id: several where a client repeats itself. */
  readonly #waiting = new Map<string, Answered[]>()

  constructor(calls: readonly ClientCall[]) {
    this.#calls = calls.map((call) => ({ ...call, output: '' }))
    for (const call of this.#calls) {
      const waiting = this.#waiting.get(call.clientId)
      if (waiting) waiting.push(call)
      else this.#waiting.set(call.clientId, [call])
    }
  }

  /** The client's id of a call that waits for its result. */
  get unanswered(): string | undefined {
    return this.#waiting.keys().next().value
  }

  /** Takes a result; false where no call of the step has this id and waits. */
  answer(clientId: string, output: string): boolean {
    const waiting = this.#waiting.get(clientId)
    const call = waiting?.shift()
    if (waiting?.length === 0) this.#waiting.delete(clientId)
    if (call) call.output = output
    return call !== undefined
  }

  /** The turn with the results, once none is wanting. */
  turn(): Content & { readonly role: 'user' } {
    const parts = this.#calls.map(({ call: { id, name }, output }): Part => {
      return { functionResponse: { ...(id !== undefined && { id }), name, response: { output } } }
    })
    return { role: 'user', parts }
  }
}
