/** What a piece of a line is. */
export type PieceKind = 'key' | 'text' | 'comment' | 'reference' | 'plain'

/** A piece of a line of YAML, to be coloured. */
export interface Piece {
  readonly kind: PieceKind
  readonly text: string
}

/** Comments, quoted texts, references to variables and files, and keys; in this order at each place. */
const TOKEN =
  /(?<comment>(?:^|(?<=\s))#.*$)|(?<text>"(?:\\.|[^"\\])*"|'(?:''|[^'])*')|(?<reference>\$\{[^}]*\})|(?<key>[\w./*-]+(?=\s*:(?:\s|$)))/g

/** A line in pieces. It is for the eye alone: what it takes for a key decides nothing. */
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
