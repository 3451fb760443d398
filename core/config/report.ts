import { codeFrameColumns } from '@babel/code-frame'
import type { Diagnostic, Position } from '../text/diagnostic.ts'
import type { ConfigFile, Problem, Span } from './file/config-file.ts'

const AROUND = { linesAbove: 2, linesBelow: 1 }

/**
 * What a person is told of the problems, and of API keys in plain text: in the order of the lines, none twice, and with no secret
 * in any frame.
 */
export function toDiagnostics(source: ConfigFile, problems: readonly Problem[]): readonly Diagnostic[] {
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
export function addFrames(diagnostics: readonly Diagnostic[], text: string): readonly Diagnostic[] {
  const masked = mask(text, [])
  return diagnostics.map((diagnostic) => {
    const { line, column, frame } = diagnostic
    const [word = ''] = /[^\s:,{}[\]]*/.exec((masked.split('\n')[line - 1] ?? '').slice(column - 1)) ?? []
    return { ...diagnostic, frame: frame || frameAt(masked, diagnostic, word.length) }
  })
}

function frameOf(source: ConfigFile, text: string, [start, end]: Span): string {
  const marked = text.slice(start, end).split('\n', 1)[0] ?? ''
  return frameAt(text, source.position([start, end]), marked.length)
}

function frameAt(text: string, { line, column: from }: Pick<Position, 'line' | 'column'>, length: number): string {
  const column = from - 1
  return codeFrameColumns(text, { start: { line, column }, end: { line, column: column + length } }, AROUND)
}

/** A whole key: it has a digit or a capital, or is too long for a word of prose such as `sk-test-`. */
const KEY = /\bsk-(?:(?=[\w-]*[A-Z0-9])[\w-]{5,}|[\w-]{13,})/g
const KEY_OR_PIECE = /\bsk-\w[\w-]*/g
/** A value beside a name that sounds like a credential: all that can be told where the YAML is too broken to look into. */
const CREDENTIAL =
  /(key|secret|token|password|credential|authorization)["']?[ \t]*:[ \t]*(?!["']?\$\{|\*)("[^"\n]*"?|'[^'\n]*'?|[^\s{[][^\n]*)/gi

const PLAIN_KEY =
  'an API key stands here in plain text: ' +
  `put an upstream's into the environment (\${env:NAME}) or a file (\${file:/path}), ` +
  "write a client's as its hash, and revoke this one if others have seen the file"

/** API keys in plain text, wherever they stand, comments included. */
export function findPlainKeys({ text }: ConfigFile): readonly Problem[] {
  return [...text.matchAll(KEY)].map(({ 0: key, index }) => ({ span: [index, index + key.length], message: PLAIN_KEY }))
}

/** The text with stars, one for each character, over the given spans and over all that looks like a credential. */
export function mask(text: string, spans: readonly Span[]): string {
  const hidden = spans.reduce(
    (masked, [start, end]) => masked.slice(0, start) + stars(masked.slice(start, end)) + masked.slice(end),
    text,
  )
  return maskKeys(hidden.replace(CREDENTIAL, (whole, _name, value: string) => whole.slice(0, -value.length) + stars(value)))
}

/** A text with stars over what looks like an API key, or like a piece of one. */
export function maskKeys(text: string): string {
  return text.replace(KEY_OR_PIECE, stars)
}

const stars = (text: string): string => text.replace(/[^\n\r]/g, '*')
