import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/** A folder outside the project, like an operator's. */
export interface TemporaryFolder {
  readonly path: string
  /** Writes a file, creates its folders, and returns its path. */
  write(name: string, text: string): string
  remove(): void
}

export function temporaryFolder(): TemporaryFolder {
  const path = mkdtempSync(join(tmpdir(), 'umg-config-'))
  return {
    path,
    write(name, text) {
      const file = join(path, name)
      mkdirSync(dirname(file), { recursive: true })
      writeFileSync(file, text)
      return file
    },
    remove: () => rmSync(path, { recursive: true }),
  }
}
