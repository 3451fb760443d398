import { getPriority, setPriority } from 'node:os'

/** A busy thread then gets a tenth of what one of normal priority gets (sched(7)). */
const LOWER_BY = 10
const LOWEST = 19

/**
 * Lowers the priority of this thread: its work comes after that of calls. Linux gives each thread a priority of its own (setpriority(2),
 * "C library/kernel differences"); elsewhere it is the process's, and stays as it is.
 */
export function lowerPriority(): void {
  if (process.platform === 'linux') setPriority(Math.min(getPriority() + LOWER_BY, LOWEST))
}
