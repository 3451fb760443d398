import { styleText } from 'node:util'
import { type Diagnostic, formatDiagnostics } from '../text/diagnostic.ts'
import type { CommandIo, Output } from './io.ts'

/** How findings are printed: for people, for programs, and as GitHub Actions turns them into annotations. */
export const FORMATS = ['pretty', 'json', 'github'] as const

/** One of `FORMATS`. */
export type Format = (typeof FORMATS)[number]

/** What there is to say of a routing table. */
export interface Findings {
  /** As it was named. */
  readonly file: string
  /** What is wrong; empty where the table is right. */
  readonly errors: readonly Diagnostic[]
  /** What its author should know all the same. */
  readonly notices: readonly string[]
  /** What is in a table that is right: `3 namespaces, 2 links`. */
  readonly summary: string
}

/** Prints findings: those of a wrong table in `pretty` on stderr, all else on stdout. Returns the exit code: 0 or 1. */
export function printFindings(findings: Findings, format: Format, io: CommandIo): 0 | 1 {
  PRINTERS[format](findings, io)
  return findings.errors.length === 0 ? 0 : 1
}

const PRINTERS: Readonly<Record<Format, (findings: Findings, io: CommandIo) => void>> = {
  pretty({ file, errors, notices, summary }, { env, stdout, stderr }) {
    if (errors.length > 0) {
      stderr.write(`${formatDiagnostics(errors, bold(stderr, env))}\n\n${file} is not valid: ${count(errors.length, 'error')}\n`)
      return
    }
    stdout.write(`${file} is valid: ${summary}\n`)
    for (const notice of notices) stdout.write(`note: ${notice}\n`)
  },
  json({ file, errors, notices }, { stdout }) {
    const places = errors.map(({ file: name, line, column, message }) => ({ file: name, line, column, message }))
    stdout.write(`${JSON.stringify({ file, valid: errors.length === 0, errors: places, notices }, null, 2)}\n`)
  },
  github({ file, errors, notices }, { stdout }) {
    for (const { file: name, line, column, message } of errors)
      stdout.write(`::error file=${property(name)},line=${line},col=${column}::${data(message)}\n`)
    for (const notice of notices) stdout.write(`::notice file=${property(file)}::${data(notice)}\n`)
  },
}

/** `1 error`, `2 errors` */
export function count(amount: number, noun: string): string {
  return `${amount} ${noun}${amount === 1 ? '' : 's'}`
}

/** Makes text bold on a terminal that shows colours (https://no-color.org). */
export function bold(stream: Output, env: NodeJS.ProcessEnv): (text: string) => string {
  return stream.isTTY === true && !env.NO_COLOR ? (text) => styleText('bold', text, { validateStream: false }) : (text) => text
}

/** What GitHub's commands take (actions/toolkit, `core/src/command.ts`). */
const data = (text: string): string => text.replaceAll('%', '%25').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
const property = (text: string): string => data(text).replaceAll(':', '%3A').replaceAll(',', '%2C')
