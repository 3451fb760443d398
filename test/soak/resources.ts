import { setTimeout as delay } from 'node:timers/promises'
import type { SoakedGateway } from './fixture.ts'

/** The resources that processes hold after garbage collection. */
export interface ProcessResources {
  /** Bytes of JavaScript's heap without compiled code. */
  readonly heap: number
  /** Bytes that objects hold outside the heap, such as Buffers. */
  readonly external: number
  /** Bytes of Buffers and of data that sockets have not written yet. */
  readonly arrayBuffers: number
  /** Open file descriptors, without those of event loops. */
  readonly descriptors: number
  /** Event loops: one, and one for each thread. */
  readonly eventLoops: number
  /** The kinds of handles that keep the event loop alive: `Timeout`, `TCPSocketWrap` … */
  readonly handles: readonly string[]
}

/** Bytes added between two measurements. Bytes that are both external and array buffers count once. */
export const growth = (before: ProcessResources, after: ProcessResources): number =>
  after.heap - before.heap + Math.max(after.external - before.external, after.arrayBuffers - before.arrayBuffers)

/** The resources of several processes together. */
export function total(processes: readonly ProcessResources[]): ProcessResources {
  const sum = (count: (one: ProcessResources) => number) => processes.reduce((all, one) => all + count(one), 0)
  return {
    heap: sum(({ heap }) => heap),
    external: sum(({ external }) => external),
    arrayBuffers: sum(({ arrayBuffers }) => arrayBuffers),
    descriptors: sum(({ descriptors }) => descriptors),
    eventLoops: sum(({ eventLoops }) => eventLoops),
    handles: processes.flatMap(({ handles }) => handles),
  }
}

const INTERVAL_MS = 300
const TIMEOUT_MS = 20_000

/** The resources of an idle gateway, measured when its timers have ended and its sockets are closed. */
export async function idleResources(gateway: SoakedGateway): Promise<ProcessResources> {
  const deadline = performance.now() + TIMEOUT_MS
  for (let last = await gateway.resources(); ; ) {
    await delay(INTERVAL_MS)
    const now = await gateway.resources()
    const isQuiet = !now.handles.includes('Timeout') && now.descriptors === last.descriptors
    if (isQuiet || performance.now() > deadline) return now
    last = now
  }
}
