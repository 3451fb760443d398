import { setTimeout as delay } from 'node:timers/promises'
import { bodyOf, createClient } from './client.ts'
import type { SoakedGateway } from './fixture.ts'

/** A client that must be served while the gateway is under stress. */
export interface BackgroundClient {
  /** Ends its calls. Resolves to the milliseconds of the slowest, or to infinity if one did not get a 200. */
  stop(): Promise<number>
}

const PAUSE_MS = 50

/** Makes one small call after another, to a model that the upstream answers immediately. */
export function startBackgroundClient(gateway: SoakedGateway, model: string): BackgroundClient {
  const client = createClient(gateway, gateway.keys.many)
  let stopped = false
  let slowest = 0

  async function call(): Promise<number> {
    const { status, took } = await client.call(bodyOf({ model }))
    return status === 200 ? took : Number.POSITIVE_INFINITY
  }

  async function callOften(): Promise<void> {
    while (!stopped) {
      slowest = Math.max(slowest, await call().catch(() => Number.POSITIVE_INFINITY))
      await delay(PAUSE_MS)
    }
  }

  const calling = callOften()
  return {
    async stop() {
      stopped = true
      await calling
      client.close()
      return slowest
    },
  }
}
