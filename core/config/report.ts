import { codeFrameColumns } from '@babel/code-frame'
import type { Diagnostic, Position } from '../text/diagnostic.ts'
import { findPlainKeys } from './checks/plain-secrets.ts'
import type { ConfigFile, Problem, Span } from './file/config-file.ts'
import { mask, maskKeys } from './file/mask.ts'

/**
 * The diagnostics of problems, and of API keys in plain text: in the order of the lines, without duplicates, and with no secret in any
 * code frame.
 */
export function toDiagnostics(file: ConfigFile, problems: readonly Problem[]): readonly Diagnostic[] {
  const keys = findPlainKeys(file)
  // A plain key is more important than any other problem of the value that contains it.
  const others = problems.filter(({ span }) => !keys.some((key) => span[0] <= key.span[0] && key.span[1] <= span[1]))
  const distinct = new Map([...keys, ...others].map((problem) => [`${problem.span} ${problem.message}`, problem]))
  const hidden = problems.flatMap(({ hide = [] }) => hide)
  const text = mask(file.text, hidden)
  return [...distinct.values()]
    .sort((a, b) => a.span[0] - b.span[0])
    .map(({ span, message }) => ({ ...file.position(span), message: maskKeys(message), frame: frameOf(file, text, span) }))
}

/** Adds code frames to diagnostics that were made after the file was loaded, and so have none. */
export function addFrames(diagnostics: readonly Diagnostic[], text: string): readonly Diagnostic[] {
  const masked = mask(text, [])
  return diagnostics.map((diagnostic) => {
    const { line, column, frame } = diagnostic
    const [word = ''] = /[^\s:,{}[\]]*/.exec((masked.split('\n')[line - 1] ?? '').slice(column - 1)) ?? []
    return { ...diagnostic, frame: frame || frameAt(masked, diagnostic, word.length) }
  })
}

function frameOf(file: ConfigFile, text: string, [start, end]: Span): string {
  const marked = text.slice(start, end).split('\n', 1)[0] ?? ''
  return frameAt(text, file.position([start, end]), marked.length)
}

const AROUND = { linesAbove: 2, linesBelow: 1 }

function frameAt(text: string, { line, column: from }: Pick<Position, 'line' | 'column'>, length: number): string {
  const column = from - 1
  return codeFrameColumns(text, { start: { line, column }, end: { line, column: column + length } }, AROUND)
}
