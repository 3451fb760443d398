/**
 * Whether a model id fits a glob: `*` stands for any run of characters, slashes included; everything else for itself.
 * Each piece is searched once, from left to right: no glob can make it backtrack.
 */
export function matchesGlob(glob: string, id: string): boolean {
  const star = glob.indexOf('*')
  if (star < 0) return glob === id
  // Most ids are turned away here, and cost nothing.
  if (!id.startsWith(glob.slice(0, star))) return false
  const pieces = glob.slice(star + 1).split('*')
  const tail = pieces.pop()!
  let from = star
  for (const piece of pieces) {
    const found = id.indexOf(piece, from)
    if (found < 0) return false
    from = found + piece.length
  }
  return id.length - tail.length >= from && id.endsWith(tail)
}
