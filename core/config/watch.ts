import { existsSync, type FSWatcher, readlinkSync, watch } from 'node:fs'
import { basename, dirname, parse, relative, resolve, sep } from 'node:path'

/** The times of a FileWatch, in milliseconds. */
export interface WatchTimes {
  /** The time without another change after which a change is reported: by then a file that is written in chunks is complete. */
  readonly quiet: number
  /** The longest delay by repeated changes. */
  readonly longest: number
  /** The polling interval: some file systems report no changes, and a system has a limited number of watches. */
  readonly poll: number
}

const TIMES: WatchTimes = { quiet: 100, longest: 1000, poll: 10_000 }

/**
 * Reports when files may have changed. It watches their folders, and the folders of the symbolic links in their paths: a file that is
 * replaced by renaming, or by a link as in a mounted ConfigMap, is not the same file as before.
 */
export class FileWatch {
  readonly #changed: () => void
  readonly #times: WatchTimes
  readonly #polling: NodeJS.Timeout
  #watchers: readonly FSWatcher[] = []
  #waiting: NodeJS.Timeout | undefined
  #waitingSince = 0
  #closed = false

  /** Calls `changed` when a file may have changed, and at each polling interval. */
  constructor(changed: () => void, times: Partial<WatchTimes> = {}) {
    this.#changed = changed
    this.#times = { ...TIMES, ...times }
    this.#polling = setInterval(changed, this.#times.poll).unref()
  }

  /** Watches these files from now on, and no others. They need not exist. */
  follow(paths: readonly string[]): void {
    if (this.#closed) return
    const before = this.#watchers
    // All watches are renewed, because a folder may have been replaced as well. The new ones start before the old ones end.
    this.#watchers = [...watched(paths)].flatMap(([folder, names]) => this.#watch(folder, names))
    for (const watcher of before) watcher.close()
  }

  /** Reports a change once the files are quiet, as if one of them had changed. */
  touch(): void {
    if (this.#closed) return
    const now = performance.now()
    if (this.#waiting === undefined) this.#waitingSince = now
    clearTimeout(this.#waiting)
    const { quiet, longest } = this.#times
    this.#waiting = setTimeout(
      () => {
        this.#waiting = undefined
        this.#changed()
      },
      Math.max(0, Math.min(quiet, this.#waitingSince + longest - now)),
    ).unref()
  }

  close(): void {
    this.follow([])
    this.#closed = true
    clearInterval(this.#polling)
    clearTimeout(this.#waiting)
  }

  #watch(folder: string, names: ReadonlySet<string>): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // The folder's own name: the folder itself is gone.
        if (name === null || names.has(name) || name === basename(folder)) this.touch()
      })
      watcher.on('error', () => this.touch())
      return [watcher]
    } catch {
      // The folder is gone, or is not readable: polling reports its changes.
      return []
    }
  }
}

/** By folder, the names of its entries to watch. */
function watched(paths: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  for (const path of paths.flatMap((each) => [...entriesOf(each)])) {
    const folder = dirname(path)
    const names = folders.get(folder) ?? new Set()
    folders.set(folder, names.add(basename(path)))
  }
  return folders
}

/** The most symbolic links in a path that Linux follows. */
const MOST_LINKS = 40

/** The entries that determine which file a path refers to: each symbolic link in it, and the file, or the first missing folder. */
function* entriesOf(path: string, links = 0): Iterable<string> {
  const { root } = parse(path)
  let at = root
  for (const name of relative(root, path).split(sep)) {
    at = resolve(at, name)
    const target = linkTarget(at)
    if (target !== undefined && links < MOST_LINKS) {
      yield at
      yield* entriesOf(resolve(dirname(at), target, relative(at, path)), links + 1)
      return
    }
    if (!existsSync(at)) break
  }
  yield at
}

function linkTarget(path: string): string | undefined {
  try {
    return readlinkSync(path)
  } catch {
    return undefined
  }
}
