import { type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'

/** Starts a script as another process; its stderr is inherited. */
export function child(script: URL, ...args: string[]): ChildProcessByStdio<Writable, Readable, null> {
  return spawn(process.execPath, [script.pathname, ...args], { stdio: ['pipe', 'pipe', 'inherit'] })
}
