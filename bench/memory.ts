import { processTree, readProc } from './proc.ts'

/**
 * The memory of a process and its descendants, in MiB. Pages that several of them map count once: the sum of Pss from
 * /proc/PID/smaps_rollup (Linux, proc_pid_smaps(5)).
 */
export function memoryOf(pid: number): number {
  const kibibytes = processTree(pid).map((member) =>
    Number(/^Pss:\s+(\d+)/m.exec(readProc(`/proc/${member}/smaps_rollup`))?.[1] ?? 0),
  )
  return kibibytes.reduce((sum, one) => sum + one, 0) / 1024
}
