import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { startOf } from './call-journal.ts'

const NAME = /^(\d+)-(\d+)-(\d+)\.jsonl$/

/** A file that was found: a part of the journal of a process. */
export interface FoundJournal {
  readonly path: string
  /** Its id and its start. */
  readonly process: string
  /** A process writes its files in this order. */
  readonly number: number
  readonly isEnded: boolean
}

/** Finds the files of the journals of all processes. */
export async function findJournals(folder: string): Promise<readonly FoundJournal[]> {
  const names = await readdir(folder).catch(ignoreMissing)
  return (names ?? []).flatMap((name) => {
    const [, pid, start, number] = NAME.exec(name) ?? []
    if (pid === undefined) return []
    const path = join(folder, name)
    return [{ path, process: `${pid}-${start}`, number: Number(number), isEnded: startOf(Number(pid)) !== start }]
  })
}

/** The name of a file whose process counts as ended. The kernel gives no process the id 0. */
export const nameOfEnded = (number: number): string => `0-1-${number}.jsonl`

/** Reads files of one process: the last line of each call, which is the one that counts, by its id. */
export async function readJournal(files: readonly FoundJournal[]): Promise<ReadonlyMap<string, string>> {
  const lines = new Map<string, string>()
  const ordered = files.toSorted((a, b) => a.number - b.number)
  for (const { path } of ordered) for (const line of await linesOf(path)) lines.set(JSON.parse(line)[0], line)
  return lines
}

/** The whole lines of a file. A process may be killed in the middle of a write. */
async function linesOf(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(ignoreMissing)
  return text === undefined
    ? []
    : text
        .slice(0, text.lastIndexOf('\n') + 1)
        .split('\n')
        .filter((line) => line !== '')
}

/** For a file that another process may remove. */
export function ignoreMissing(error: NodeJS.ErrnoException): undefined {
  if (error.code !== 'ENOENT') throw error
}
