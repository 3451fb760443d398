import { type ConfigError, type Diagnostic, formatDiagnostics, UnreadableConfig } from '../text/diagnostic.ts'
import { bold, type CommandIo, type JsonOption, writeJson } from './output.ts'

/** The formats of a report: for people, for programs, and for GitHub Actions, which shows it as annotations. */
export type Format = 'pretty' | 'json' | 'github'

/** The result of validating routes.yaml. */
export interface ValidationReport {
  /** The path as the caller gave it. */
  readonly file: string
  /** Empty if the file is valid. */
  readonly errors: readonly Diagnostic[]
  /** Notes for the author of the file. */
  readonly notices: readonly string[]
  /** The contents of a valid file: `3 namespaces, 2 links`. */
  readonly summary: string
  /** Why the file cannot be read: then nothing is known of its contents. */
  readonly unreadable?: string
}

/** Prints a report: errors in `pretty` on stderr, all else on stdout. Returns the exit code: 0 if the file is valid, else 1. */
export function printReport(report: ValidationReport, format: Format, io: CommandIo): 0 | 1 {
  PRINTERS[format](report, io)
  return report.errors.length === 0 ? 0 : 1
}

/** Prints the errors of an invalid routes.yaml, for people or as JSON. Returns the exit code, 1. */
export function printConfigError(error: ConfigError, file: string, io: CommandIo, { json }: JsonOption = {}): 0 | 1 {
  return printReport(reportOf(error, file), json === true ? 'json' : 'pretty', io)
}

/** The report of an invalid routes.yaml. */
export const reportOf = (error: Pick<ConfigError, 'diagnostics'>, file: string): ValidationReport => ({
  file,
  errors: error.diagnostics,
  notices: [],
  summary: '',
  ...(error instanceof UnreadableConfig && { unreadable: error.message }),
})

const PRINTERS: Readonly<Record<Format, (report: ValidationReport, io: CommandIo) => void>> = {
  pretty({ file, errors, notices, summary, unreadable }, { env, stdout, stderr }) {
    if (unreadable !== undefined) {
      stderr.write(`${bold(stderr, env)(unreadable)}\n`)
      return
    }
    if (errors.length > 0) {
      stderr.write(`${formatDiagnostics(errors, bold(stderr, env))}\n\n${file} is not valid: ${count(errors.length, 'error')}\n`)
      return
    }
    stdout.write(`${file} is valid: ${summary}\n`)
    for (const notice of notices) stdout.write(`note: ${notice}\n`)
  },
  json({ file, errors, notices }, io) {
    const located = errors.map(({ file: name, line, column, message }) => ({ file: name, line, column, message }))
    writeJson({ file, valid: errors.length === 0, errors: located, notices }, io)
  },
  github({ file, errors, notices }, { stdout }) {
    for (const { file: name, line, column, message } of errors)
      stdout.write(`::error file=${escapeProperty(name)},line=${line},col=${column}::${escapeData(message)}\n`)
    for (const notice of notices) stdout.write(`::notice file=${escapeProperty(file)}::${escapeData(notice)}\n`)
  },
}

/** `1 error`, `2 errors` */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

/** Escapes of GitHub's workflow commands (actions/toolkit, `core/src/command.ts`). */
const escapeData = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const escapeProperty = (text: string): string => escapeData(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
