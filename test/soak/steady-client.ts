import { setTimeout as delay } from 'node:timers/promises'
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads'
import { bodyOf, createClient } from './client.ts'
import type { SoakedGateway } from './fixture.ts'

/** The calls of a client that must be served whatever others do. */
export interface SteadyCalls {
  readonly calls: number
  /** Calls without a 200. */
  readonly failed: number
  /** Milliseconds within which 99 of 100 calls were answered. */
  readonly p99: number
}

/** A steady client. */
export interface SteadyClient {
  stop(): Promise<SteadyCalls>
}

const PAUSE_MS = 20

/** Makes one small call after another, in a thread of its own: what this one does delays no call. */
export function startSteadyClient({ url }: Pick<SoakedGateway, 'url'>, key: string, model: string): SteadyClient {
  const thread = new Worker(new URL(import.meta.url), { workerData: { url, key, model } })
  const ended = new Promise<SteadyCalls>((resolve, reject) => thread.once('message', resolve).once('error', reject))
  return {
    stop() {
      thread.postMessage('stop')
      return ended
    },
  }
}

async function callUntilStopped(): Promise<SteadyCalls> {
  const { url, key, model } = workerData
  const client = createClient({ url }, key)
  let isStopped = false
  parentPort!.once('message', () => {
    isStopped = true
  })
  const times: number[] = []
  let failed = 0
  while (!isStopped) {
    const { status, took } = await client.call(bodyOf({ model })).catch(() => ({ status: 0, took: 0 }))
    if (status === 200) times.push(took)
    else failed++
    await delay(PAUSE_MS)
  }
  client.close()
  return { calls: times.length + failed, failed, p99: times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]! }
}

if (!isMainThread) parentPort!.postMessage(await callUntilStopped())
