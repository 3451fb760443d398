/** A place in routes.yaml. */
export interface Position {
  /** The file as it was named when it was loaded. */
  readonly file: string
  /** From 1. */
  readonly line: number
  /** From 1. */
  readonly column: number
}

/** One thing that is wrong with routes.yaml, for the person who wrote it. Holds no secret. */
export interface Diagnostic extends Position {
  /** What is wrong and what to write instead. */
  readonly message: string
  /** The lines around the place, marked; secrets are starred out. Empty where there is no text to show. */
  readonly frame: string
}

/** All that is wrong with routes.yaml, in the order of its lines. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
  readonly diagnostics: readonly Diagnostic[]

  constructor(diagnostics: readonly Diagnostic[]) {
    super(formatDiagnostics(diagnostics, (text) => text))
    this.diagnostics = diagnostics
  }
}

/** There is no table to look at: the file cannot be read. */
export class UnreadableConfig extends ConfigError {}

/** The diagnostics as a terminal shows them; `emphasis` decorates the line that names the place and the fault. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], emphasis: (text: string) => string): string {
  return diagnostics.map((diagnostic) => formatDiagnostic(diagnostic, emphasis)).join('\n\n')
}

function formatDiagnostic({ file, line, column, message, frame }: Diagnostic, emphasis: (text: string) => string): string {
  const head = emphasis(`${file}:${line}:${column}: ${message}`)
  return frame === '' ? head : `${head}\n\n${frame}`
}
