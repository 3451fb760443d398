/**
 * Whether a model id fits a glob: `*` stands for any run of characters, slashes included; everything else for itself.
 * Each piece is searched once, from left to right: no glob can make it backtrack.
 */
export function matchesGlob(glob: string, id: string): boolean {
  const [head = '', ...pieces] = glob.split('*')
  const tail = pieces.pop()
  if (tail === undefined) return glob === id
  if (!id.startsWith(head)) return false
  let from = head.length
  for (const piece of pieces) {
    const found = id.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return id.length - tail.length >= from && id.endsWith(tail)
}
