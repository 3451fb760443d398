import { listProc, processTree, readProc } from './proc.ts'

/** Processor time, in nanoseconds. */
export interface CpuTime {
  /** Spent running, user and system. */
  readonly used: number
  /** Spent ready to run, while something else had the core. */
  readonly waited: number
}

/** The time of each thread of a process tree so far, by thread id. */
export type CpuSnapshot = ReadonlyMap<string, CpuTime>

const NONE: CpuTime = { used: 0, waited: 0 }

/** Reads what a process and its descendants have used so far, from /proc/PID/task/TID/schedstat (Linux, sched-stats.rst). */
export function cpuSnapshot(pid: number): CpuSnapshot {
  const threads = new Map<string, CpuTime>()
  for (const member of processTree(pid)) {
    for (const thread of listProc(`/proc/${member}/task`)) {
      const [used = 0, waited = 0] = readProc(`/proc/${member}/task/${thread}/schedstat`).split(' ').map(Number)
      threads.set(thread, { used, waited })
    }
  }
  return threads
}

/** The time between two snapshots. A thread that ended in between is left out: what it used is no longer to be read. */
export function cpuBetween(before: CpuSnapshot, after: CpuSnapshot): CpuTime {
  let { used, waited } = NONE
  for (const [thread, now] of after) {
    const then = before.get(thread) ?? NONE
    used += now.used - then.used
    waited += now.waited - then.waited
  }
  return { used, waited }
}
