import { codeFrameColumns } from '@babel/code-frame'
import type { Position } from '../config.ts'
import type { Diagnostic } from '../diagnostic.ts'
import { findPlainKeys, mask, maskKeys } from './plaintext.ts'
import type { Problem, Source, Span } from './source.ts'

const AROUND = { linesAbove: 2, linesBelow: 1 }

/**
 * What a person is told of the problems, and of API keys in plain text: in the order of the lines, none twice, and with no secret
 * in any frame.
 */
export function toDiagnostics(source: Source, problems: readonly Problem[]): readonly Diagnostic[] {
  const keys = findPlainKeys(source)
  // A key outweighs all else that is wrong with the value it stands in.
  const others = problems.filter(({ span }) => !keys.some((key) => span[0] <= key.span[0] && key.span[1] <= span[1]))
  const distinct = new Map([...keys, ...others].map((problem) => [`${problem.span} ${problem.message}`, problem]))
  const hidden = problems.flatMap(({ hide = [] }) => hide)
  const text = mask(source.text, hidden)
  return [...distinct.values()]
    .sort((a, b) => a.span[0] - b.span[0])
    .map(({ span, message }) => ({ ...source.position(span), message: maskKeys(message), frame: frameOf(source, text, span) }))
}

/** The diagnostics of a table that was right when it was read: what is said of its places later has no frames yet. */
export function inFrames(diagnostics: readonly Diagnostic[], text: string): readonly Diagnostic[] {
  const masked = mask(text, [])
  return diagnostics.map((diagnostic) => {
    const { line, column, frame } = diagnostic
    const [word = ''] = /[^\s:,{}[\]]*/.exec((masked.split('\n')[line - 1] ?? '').slice(column - 1)) ?? []
    return { ...diagnostic, frame: frame || frameAt(masked, diagnostic, word.length) }
  })
}

function frameOf(source: Source, text: string, [start, end]: Span): string {
  const marked = text.slice(start, end).split('\n', 1)[0] ?? ''
  return frameAt(text, source.position([start, end]), marked.length)
}

function frameAt(text: string, { line, column: from }: Pick<Position, 'line' | 'column'>, length: number): string {
  const column = from - 1
  return codeFrameColumns(text, { start: { line, column }, end: { line, column: column + length } }, AROUND)
}
