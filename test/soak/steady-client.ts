import { fork } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { bodyOf, createClient } from './client.ts'
import type { SoakedGateway } from './fixture.ts'

/** The calls of a client that must be served whatever others do. */
export interface SteadyCalls {
  readonly calls: number
  /** Calls without a 200. */
  readonly failed: number
  /** Milliseconds within which 99 of 100 calls were answered. */
  readonly p99: number
  /** What /livez answered meanwhile. */
  readonly checks: SteadyChecks
}

/** Checks that a gateway lives, each on a connection of its own. */
export interface SteadyChecks {
  readonly count: number
  /** Checks without a 200. */
  readonly failed: number
  /** Milliseconds of the slowest answer. */
  readonly slowest: number
}

/** A steady client. */
export interface SteadyClient {
  stop(): Promise<SteadyCalls>
}

const PAUSE_MS = 20

const PATH = fileURLToPath(import.meta.url)

/** Makes one small call after another, in a process of its own: what this one does delays no call. Resolves after the first. */
export async function startSteadyClient({ url }: Pick<SoakedGateway, 'url'>, key: string, model: string): Promise<SteadyClient> {
  const child = fork(PATH, [url, key, model], { execArgv: [] })
  await once(child, 'message')
  return {
    async stop() {
      child.send('stop')
      const [calls] = (await once(child, 'message')) as [SteadyCalls]
      return calls
    },
  }
}

async function callUntilStopped(url: string, key: string, model: string): Promise<SteadyCalls> {
  const client = createClient({ url }, key)
  let isStopped = false
  process.once('message', () => {
    isStopped = true
  })
  await client.call(bodyOf({ model }))
  process.send!('started')
  const times: number[] = []
  let failed = 0
  const checking = checkUntil(url, () => isStopped)
  while (!isStopped) {
    const { status, took } = await client.call(bodyOf({ model })).catch(() => ({ status: 0, took: 0 }))
    if (status === 200) times.push(took)
    else failed++
    await delay(PAUSE_MS)
  }
  client.close()
  const p99 = times.toSorted((a, b) => a - b)[Math.floor(times.length * 0.99)]!
  return { calls: times.length + failed, failed, p99, checks: await checking }
}

async function checkUntil(url: string, isStopped: () => boolean): Promise<SteadyChecks> {
  let [count, failed, slowest] = [0, 0, 0]
  while (!isStopped()) {
    const startedAt = performance.now()
    const status = await fetch(`${url}/livez`, { headers: { connection: 'close' } }).then(
      (reply) => reply.status,
      () => 0,
    )
    count += 1
    if (status !== 200) failed += 1
    slowest = Math.max(slowest, performance.now() - startedAt)
    await delay(PAUSE_MS)
  }
  return { count, failed, slowest }
}

if (process.argv[1] === PATH) {
  const [url, key, model] = process.argv.slice(2) as [string, string, string]
  process.send!(await callUntilStopped(url, key, model))
  process.disconnect()
}
