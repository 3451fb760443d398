import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, createClient } from './client.ts'

/** Who asks, where, and for what. */
export interface Asking {
  /** The base URLs of gateways, each as often as clients ask it. */
  readonly urls: readonly string[]
  readonly key: string
  readonly body: string
  /** The pause after a call that was not served, in milliseconds. */
  readonly pauseMs: number
  /** The pause after a call that was served, in milliseconds. Default: none. */
  readonly servedPauseMs?: number
}

/** Clients that keep asking, each on a connection of its own. */
export interface Askers {
  /** The answers so far. A call that broke off has the status 0. */
  readonly answers: readonly Answer[]
  /** Resolves when no call is under way. */
  stop(): Promise<void>
}

/** Makes one call after the other with each client, whatever the answers are. */
export function keepAsking({ urls, key, body, pauseMs, servedPauseMs = 0 }: Asking): Askers {
  const over = new AbortController()
  const answers: Answer[] = []
  async function ask(url: string): Promise<void> {
    const client = createClient({ url }, key)
    while (!over.signal.aborted) {
      const answer = await client.call(body).catch(({ message }: Error) => ({ status: 0, body: message, whole: false, took: 0 }))
      answers.push(answer)
      await delay(answer.status === 200 ? servedPauseMs : pauseMs)
    }
    client.close()
  }
  const asking = Promise.all(urls.map(ask))
  return {
    answers,
    async stop() {
      over.abort()
      await asking
    },
  }
}
