import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import type { FileDigests } from '../../plugins/local-modules.ts'

/** Texts of files, by absolute path. */
export type FileTexts = Readonly<Record<string, string>>

/** The files that one load of routes.yaml read, successful or not, and their digests: it tells whether to load again. */
export class FilesRead {
  /** By absolute path; undefined if the file could not be read. */
  readonly #digests = new Map<string, string | undefined>()
  readonly #texts: Record<string, string>
  readonly #others: (() => FileDigests)[] = []

  /** `texts`: what another process read, used instead of the files. */
  constructor(texts: FileTexts = {}) {
    this.#texts = { ...texts }
  }

  /** The text files read so far: another process that reads them from here loads the same version of routes.yaml. */
  get texts(): FileTexts {
    return this.#texts
  }

  get paths(): readonly string[] {
    return this.#all().map(([path]) => path)
  }

  /** Reads a text file. Throws the error of the file system. */
  async read(path: string): Promise<string> {
    this.#digests.set(path, undefined)
    const bytes = this.#texts[path] ?? (await readFile(path))
    this.#digests.set(path, hash('sha256', bytes))
    this.#texts[path] = bytes.toString()
    return this.#texts[path]
  }

  /** Adds files that other code reads, such as the modules of a plugin. `digests` returns those read so far. */
  include(digests: () => FileDigests): void {
    this.#others.push(digests)
  }

  /** Whether one of the files was changed, created or removed since. */
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
    return hash('sha256', await readFile(path))
  } catch {
    return undefined
  }
}
