/**
 * Loaded into each process of a gateway under test, by `--import`. Measures the process on a small server, `/resources` and `/lateness`,
 * and prints an `Announcement` as one line of JSON. Names are asked from the name server of the command.
 */

import { once } from 'node:events'
import { readdirSync, readlinkSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { setImmediate as turn } from 'node:timers/promises'
import { getHeapSpaceStatistics } from 'node:v8'
import { isMainThread } from 'node:worker_threads'
import { assignmentOf } from '../../core/gateway/supervised.ts'
import { askNameServer } from '../support/dns-server.ts'
import type { ProcessResources } from './resources.ts'

/** A process that is measured. */
export interface Announcement {
  /** The base URL of the server. */
  readonly probe: string
  readonly pid: number
  /** `control.1`, `proxy-2.3`. Absent in a supervisor, and in a gateway of one process. */
  readonly process?: string
}

/** Starts the server. Resolves to its base URL. */
async function startProbe(): Promise<string> {
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
  const descriptors = openDescriptors()
  return {
    heap: heapOfData(),
    external,
    arrayBuffers,
    descriptors: descriptors.filter((target) => !OF_EVENT_LOOP.test(target)).length,
    eventLoops: descriptors.filter((target) => target === EVENT_POLL).length,
    handles: process.getActiveResourcesInfo(),
  }
}

const EVENT_POLL = 'anon_inode:[eventpoll]'
/** libuv opens these with each event loop, so with each thread: threads start with the load, and end when they are idle. */
const OF_EVENT_LOOP = /^(anon_inode:\[(eventpoll|eventfd|io_uring)\]|pipe:)/

/** What the descriptors refer to: `socket:[123]`, the path of a file. */
function openDescriptors(): string[] {
  return readdirSync('/proc/self/fd').flatMap((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`)
    } catch {
      // The descriptor by which the folder was read.
      return []
    }
  })
}

/** The heap without the code spaces: V8 compiles as long as a program runs. */
function heapOfData(): number {
  const spaces = getHeapSpaceStatistics().filter(({ space_name }) => !/code|trusted/.test(space_name))
  return spaces.reduce((sum, { space_used_size }) => sum + space_used_size, 0)
}

// Threads load what their process has loaded.
if (isMainThread) {
  askNameServer(process.env.SOAK_NAME_SERVER!)
  const announcement: Announcement = { probe: await startProbe(), pid: process.pid, process: assignmentOf(process.env)?.process }
  process.stdout.write(`${JSON.stringify(announcement)}\n`)
}
