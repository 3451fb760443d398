/** The path of a value in routes.yaml: map keys and list indexes, `['chain', 0, 'plugin']`. */
export type Path = readonly (string | number)[]

/** A path as messages show it: `namespaces.openai.timeouts`, `chain[0].plugin`. */
export function formatPath(path: Path): string {
  if (path.length === 0) return 'the file'
  return path
    .map((part) => (typeof part === 'number' ? `[${part}]` : `.${part}`))
    .join('')
    .replace(/^\./, '')
}

/** The path that a JSON pointer means. */
export function pathOfPointer(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((part) => (/^\d+$/.test(part) ? Number(part) : part))
}
