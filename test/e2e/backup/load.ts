import { EventEmitter, once } from 'node:events'

const CALLERS = 6

/** Clients that call a gateway one call after the other, until they are stopped. */
export class Load {
  /** The ids of the calls that were answered. */
  readonly answered: string[] = []
  readonly #events = new EventEmitter()
  readonly #callers: readonly Promise<void>[]
  #isStopped = false

  constructor(url: string, key: string) {
    this.#callers = Array.from({ length: CALLERS }, () => this.#call(url, key))
  }

  /** Resolves when so many calls more were answered. */
  async answers(count: number): Promise<void> {
    const goal = this.answered.length + count
    while (this.answered.length < goal) await once(this.#events, 'answered')
  }

  /** Resolves when all calls under way have ended. Throws if one was not answered. */
  async stop(): Promise<void> {
    this.#isStopped = true
    await Promise.all(this.#callers)
  }

  async #call(url: string, key: string): Promise<void> {
    while (!this.#isStopped) {
      const reply = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
        body: JSON.stringify({ model: 'box/any', messages: [{ role: 'user', content: 'Hello!' }] }),
      })
      await reply.text()
      if (reply.status !== 200) throw new Error(`a call was answered by ${reply.status}`)
      this.answered.push(reply.headers.get('x-request-id')!)
      this.#events.emit('answered')
    }
  }
}
