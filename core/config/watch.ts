import { createHash } from 'node:crypto'
import { existsSync, type FSWatcher, readlinkSync, watch } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { basename, dirname, parse, relative, resolve, sep } from 'node:path'

/** How long a watch waits, in milliseconds. */
export interface WatchTimes {
  /** Quiet after a change before it is told of: whoever writes a file in pieces is done by then. */
  readonly quiet: number
  /** The most that one change after the other can put that off. */
  readonly patience: number
  /** Between two looks without any sign of a change: some file systems give none, and a system has only so many watches. */
  readonly anyway: number
}

const TIMES: WatchTimes = { quiet: 100, patience: 1000, anyway: 10_000 }

/**
 * Tells when it is worth looking whether files have changed. It is their folders that are watched, and those of the symbolic links
 * on the way: a file that is replaced by renaming, or through a link as in a mounted ConfigMap, is another file than the one before.
 */
export class FileWatch {
  readonly #look: () => void
  readonly #times: WatchTimes
  readonly #anyway: NodeJS.Timeout
  #watchers: readonly FSWatcher[] = []
  #waiting: NodeJS.Timeout | undefined
  #waitingSince = 0
  #closed = false

  /** `look` is called when something may have changed, and now and then anyway. */
  constructor(look: () => void, times: Partial<WatchTimes> = {}) {
    this.#look = look
    this.#times = { ...TIMES, ...times }
    this.#anyway = setInterval(look, this.#times.anyway).unref()
  }

  /** Watches these files from now on, and no others. They need not be there. */
  follow(paths: readonly string[]): void {
    if (this.#closed) return
    const before = this.#watchers
    // A folder may have been replaced, too: its watch would be that of the old one. The new ones are there before the old ones go.
    this.#watchers = [...watched(paths)].flatMap(([folder, names]) => this.#watch(folder, names))
    for (const watcher of before) watcher.close()
  }

  /** Looks once, without any sign of a change. */
  soon(): void {
    this.#touched()
  }

  close(): void {
    this.follow([])
    this.#closed = true
    clearInterval(this.#anyway)
    clearTimeout(this.#waiting)
  }

  #watch(folder: string, names: ReadonlySet<string>): readonly FSWatcher[] {
    try {
      const watcher = watch(folder, { persistent: false }, (_, name) => {
        // Its own name: the folder itself has gone.
        if (name === null || names.has(name) || name === basename(folder)) this.#touched()
      })
      watcher.on('error', () => this.#touched())
      return [watcher]
    } catch {
      // It went at this moment, or may not be read: what happens in it is seen anyway, later.
      return []
    }
  }

  #touched(): void {
    if (this.#closed) return
    const now = performance.now()
    if (this.#waiting === undefined) this.#waitingSince = now
    clearTimeout(this.#waiting)
    const { quiet, patience } = this.#times
    this.#waiting = setTimeout(
      () => {
        this.#waiting = undefined
        this.#look()
      },
      Math.max(0, Math.min(quiet, this.#waitingSince + patience - now)),
    ).unref()
  }
}

/** By folder, the names in it that matter. */
function watched(paths: readonly string[]): ReadonlyMap<string, ReadonlySet<string>> {
  const folders = new Map<string, Set<string>>()
  for (const path of paths.flatMap((each) => [...entriesOf(each)])) {
    const folder = dirname(path)
    const names = folders.get(folder) ?? new Set()
    folders.set(folder, names.add(basename(path)))
  }
  return folders
}

/** As many as Linux follows. */
const MOST_LINKS = 40

/** What decides which file a path means: each symbolic link on the way, and in the end the file, or the first folder that is missing. */
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

/** The files that a routing table came from, whatever became of it, and what they held: whoever keeps it knows when to read again. */
export class FilesRead {
  /** By absolute path; undefined where there was nothing to read. */
  readonly #digests = new Map<string, string | undefined>()
  readonly #others: (() => ReadonlyMap<string, string | undefined>)[] = []

  get paths(): readonly string[] {
    return this.#all().map(([path]) => path)
  }

  /** Reads a text file. Throws what the file system throws. */
  async read(path: string): Promise<string> {
    this.#digests.set(path, undefined)
    const bytes = await readFile(path)
    this.#digests.set(path, digestOf(bytes))
    return bytes.toString()
  }

  /** Somebody else reads some more. `digests`: tells by path, when it is asked, which they were so far. */
  include(digests: () => ReadonlyMap<string, string | undefined>): void {
    this.#others.push(digests)
  }

  /** Whether a file now holds something else, came, or went. */
  async changed(): Promise<boolean> {
    const checks = this.#all().map(async ([path, digest]) => (await digestOfFile(path)) !== digest)
    return (await Promise.all(checks)).includes(true)
  }

  #all(): readonly (readonly [string, string | undefined])[] {
    return [...this.#digests, ...this.#others.flatMap((digests) => [...digests()])]
  }
}

async function digestOfFile(path: string): Promise<string | undefined> {
  try {
    return digestOf(await readFile(path))
  } catch {
    return undefined
  }
}

/** Tells whether two files hold the same. */
export function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
