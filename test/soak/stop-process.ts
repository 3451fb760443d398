import { setTimeout as delay } from 'node:timers/promises'

/** Sends a signal to a process. Resolves when it has ended. */
export async function stopProcess(pid: number, signal: NodeJS.Signals): Promise<void> {
  process.kill(pid, signal)
  while (isThere(pid)) await delay(20)
}

/** Whether a process has not ended. */
export function isThere(pid: number): boolean {
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
