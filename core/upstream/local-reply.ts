import { CodedError } from '../errors.ts'
import type { LocalReply } from '../sdk/api.ts'
import type { Receiver, Sending } from './client.ts'

/** Passes a reply that a provider makes in this process to an attempt's receiver, like a reply from the network. */
export function sendLocal(reply: LocalReply, receiver: Receiver): Sending {
  return new LocalSending(reply, receiver)
}

class LocalSending implements Sending {
  readonly #receiver: Receiver
  #aborted = false
  #paused: PromiseWithResolvers<void> | undefined

  constructor(reply: LocalReply, receiver: Receiver) {
    this.#receiver = receiver
    // Not synchronously: as with a socket, the caller needs this object before the first event.
    queueMicrotask(() => void this.#run(reply))
  }

  abort(): void {
    this.#aborted = true
    this.resume()
  }

  pause(): void {
    this.#paused ??= Promise.withResolvers()
  }

  resume(): void {
    this.#paused?.resolve()
    this.#paused = undefined
  }

  async #run(reply: LocalReply): Promise<void> {
    if (this.#aborted) return
    try {
      this.#receiver.onSent()
      this.#receiver.onHead(reply.status, reply.headers ?? {})
      for await (const piece of reply.body) {
        if (this.#aborted) return
        this.#receiver.onData(typeof piece === 'string' ? Buffer.from(piece) : piece)
        if (this.#paused !== undefined) await this.#paused.promise
        if (this.#aborted) return
      }
      this.#receiver.onEnd()
    } catch (error) {
      if (!this.#aborted) this.#receiver.onError(new CodedError('ECONNRESET', 'local reply cut', { cause: error }), false)
    }
  }
}
