import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import type { ProcessResources } from './resources.ts'

/** Starts a small server that measures its own process: `/resources` and `/lateness`. Resolves to its base URL. */
export async function startProbe(): Promise<string> {
  const delay = monitorEventLoopDelay({ resolution: 1 })
  delay.enable()

  /** The longest delay of the event loop since the last request, in milliseconds. */
  function lateness(): number {
    const worst = delay.max / 1e6
    delay.reset()
    return worst
  }

  const server = createServer(async ({ url }, response) => {
    const answer = url === '/resources' ? await resources() : lateness()
    // A kept connection would be counted the next time.
    response.writeHead(200, { connection: 'close' }).end(JSON.stringify(answer))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

async function resources(): Promise<ProcessResources> {
  // Finalizers run between collections, and free objects for the next one.
  for (let collection = 0; collection < 3; collection++) {
    globalThis.gc!()
    await turn()
  }
  const { external, arrayBuffers } = process.memoryUsage()
  return {
    heap: heapOfData(),
    external,
    arrayBuffers,
    descriptors: readdirSync('/proc/self/fd').length,
    handles: process.getActiveResourcesInfo(),
  }
}

/** The heap without the code spaces: V8 compiles as long as a program runs. */
function heapOfData(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !/code|trusted/.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}
