import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'

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
