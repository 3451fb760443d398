import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { processTree, readProc } from './proc.ts'

/**
 * The memory of a process and its descendants, in MiB. Pages that several of them map count once: the sum of Pss from
 * /proc/PID/smaps_rollup (Linux, proc_pid_smaps(5)).
 */
export function memoryOf(pid: number): number {
  return memoryOfEach(pid).reduce((sum, one) => sum + one, 0)
}

/** The memory of the largest process among a process and its descendants, in MiB: of a proxy, if the gateway has several processes. */
export function largestMemoryOf(pid: number): number {
  return Math.max(...memoryOfEach(pid))
}

const memoryOfEach = (pid: number): readonly number[] =>
  processTree(pid).map((member) => Number(/^Pss:\s+(\d+)/m.exec(readProc(`/proc/${member}/smaps_rollup`))?.[1] ?? 0) / 1024)

/** The bytes that processes with allocations.ts, whose sockets are in this folder, have allocated since the call before; 0 at the first. */
export async function allocatedIn(folder: string): Promise<number> {
  const sockets = await readdir(folder)
  const amounts = await Promise.all(sockets.map((name) => text(connect(join(folder, name)))))
  return amounts.reduce((sum, amount) => sum + Number(amount), 0)
}
