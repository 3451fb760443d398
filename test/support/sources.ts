import { globSync, readFileSync } from 'node:fs'
import { dirname, join, normalize } from 'node:path'
import { fileURLToPath } from 'node:url'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

/** A source file, as the architecture tests read it. */
export interface Source {
  /** From the project's root: `core/http/app.ts`. */
  readonly path: string
  readonly text: string
  /** The text with comments, strings and regular expressions blanked out. Offsets are unchanged. */
  readonly code: string
  /** The specifiers of its imports. */
  readonly imports: readonly string[]
  /** The project's own files among them, as paths from the root. */
  readonly inner: readonly string[]
}

/** A regular expression can begin where a value can; everywhere else a slash divides. */
const NOT_CODE =
  /\/\*[\s\S]*?\*\/|\/\/[^\n]*|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\.|[^`\\])*`|(?<=[(,=:[!&|?{};\n]\s*)\/(?![*/])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\/[a-z]*/g

const IMPORT = /^(?:import|export)\s(?:[\w\s{},*]*?\sfrom\s+)?'([^']+)'|\bimport\('([^']+)'\)/gm

/** Reads all files that match a glob, relative to the project's root. */
export function readSources(glob: string): readonly Source[] {
  return globSync(glob, { cwd: ROOT }).sort().map(readSource)
}

/** A text file of the project. */
export const readText = (path: string): string => readFileSync(join(ROOT, path), 'utf8')

/** `core/http/app.ts:12` */
export const placeOf = ({ path, text }: Source, index: number): string => `${path}:${text.slice(0, index).split('\n').length}`

function readSource(path: string): Source {
  const text = readText(path)
  const code = text.replace(NOT_CODE, (found) => found.replace(/[^\n]/g, ' '))
  const imports = Array.from(text.matchAll(IMPORT), ([, fixed, late]) => fixed ?? late!)
  const inner = imports.filter((name) => name.startsWith('.')).map((name) => normalize(join(dirname(path), name)))
  return { path, text, code, imports, inner }
}
