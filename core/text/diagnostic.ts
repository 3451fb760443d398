import { basename } from 'node:path'

/** A position in routes.yaml. */
export interface Position {
  /** The file's path as given to the command. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
}

/** A position as people and the database get it, without the folder: `routes.yaml:71`. */
export const placeOf = ({ file, line }: Position): string => `${basename(file)}:${line}`

/** One problem of routes.yaml, for its author. Holds no secret. */
export interface Diagnostic extends Position {
  /** What is wrong, and what to write instead. */
  readonly message: string
  /** The lines around the position, marked, with stars in place of secrets. Empty if there is no text to show. */
  readonly frame: string
}

/** All problems of routes.yaml, in the order of its lines. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[], message = formatDiagnostics(diagnostics, (text) => text)) {
    super(message)
    this.diagnostics = diagnostics
  }
}

/** routes.yaml cannot be read. Its message has no position; its one diagnostic, for programs, has the first. */
export class UnreadableConfig extends ConfigError {
  constructor(file: string, why: string) {
    super([{ file, line: 1, column: 1, message: why, frame: '' }], `${file}: ${why}`)
  }
}

/** The diagnostics as a terminal shows them. `emphasis` decorates the line with the position and the message. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], emphasis: (text: string) => string): string {
  return diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, emphasis)).join('\n\n')
}

function formatDiagnostic({ file, line, column, message, frame }: Diagnostic, emphasis: (text: string) => string): string {
  const head = emphasis(`${file}:${line}:${column}: ${message}`)
  return frame === '' ? head : `${head}\n\n${frame}`
}
