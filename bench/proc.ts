import { readdirSync, readFileSync } from 'node:fs'

/** A process and its descendants. */
export function processTree(root: number): number[] {
  const children = Map.groupBy(listProc('/proc').map(Number).filter(Number.isInteger), parentOf)
  const tree = [root]
  for (const pid of tree) tree.push(...(children.get(pid) ?? []))
  return tree
}

/** A file of /proc; empty where its process has just ended. */
export function readProc(file: string): string {
  try {
    return readFileSync(file, 'latin1')
  } catch {
    return ''
  }
}

/** A folder of /proc; empty where its process has just ended. */
export function listProc(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    return []
  }
}

function parentOf(pid: number): number {
  const stat = readProc(`/proc/${pid}/stat`)
  // The command's name, in parentheses, may hold anything: the fields are counted behind it.
  return Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1])
}
