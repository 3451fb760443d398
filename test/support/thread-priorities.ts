import { readdir, readFile } from 'node:fs/promises'
import { getPriority } from 'node:os'

/** How many threads of this process have a lower priority than the process, on Linux: the 19th field of each (proc_pid_stat(5)). */
export async function loweredThreads(): Promise<number> {
  const ids = await readdir('/proc/self/task')
  const stats = await Promise.all(ids.map((id) => readFile(`/proc/self/task/${id}/stat`, 'utf8')))
  // The name, in brackets, may contain spaces.
  const niceValues = stats.map((stat) => Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[16]))
  return niceValues.filter((nice) => nice > getPriority()).length
}
