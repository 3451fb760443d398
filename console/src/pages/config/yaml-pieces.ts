/** The kind of a token. */
export type PieceKind = 'key' | 'text' | 'comment' | 'reference' | 'plain'

/** A token of a line of YAML, for syntax highlighting. */
export interface Piece {
  readonly kind: PieceKind
  readonly text: string
}

/** Comments, quoted texts, references to variables and files, and keys, matched in this order. */
const TOKEN =
  /(?<comment>(?:^|(?<=\s))#.*$)|(?<text>"(?:\\.|[^"\\])*"|'(?:''|[^'])*')|(?<reference>\$\{[^}]*\})|(?<key>[\w./*-]+(?=\s*:(?:\s|$)))/g

/** The tokens of a line: an approximation, for syntax highlighting only. */
export function piecesOf(line: string): readonly Piece[] {
  const pieces: Piece[] = []
  let end = 0
  for (const { index, 0: text, groups = {} } of line.matchAll(TOKEN)) {
    if (index > end) pieces.push({ kind: 'plain', text: line.slice(end, index) })
    const kind = Object.keys(groups).find((name) => groups[name] !== undefined) as PieceKind
    pieces.push({ kind, text })
    end = index + text.length
  }
  if (end < line.length) pieces.push({ kind: 'plain', text: line.slice(end) })
  return pieces
}
