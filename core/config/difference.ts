import { isBranch, type Outline, type Tree } from './outline.ts'

/**
 * What became of a routing table, a line for each thing that was added (`+`), removed (`-`) or changed (`~`):
 * `~ namespace local: timeouts.connect: 10s → 2s`. No line shows what a reference led to.
 */
export function difference(before: Outline, after: Outline): readonly string[] {
  return [...namesOf(before, after)].flatMap((part) => compare(part, before.get(part), after.get(part)))
}

function compare(path: string, before: Tree | undefined, after: Tree | undefined): readonly string[] {
  if (before === undefined || after === undefined) {
    const [sign, tree] = before === undefined ? ['+', after] : ['-', before]
    const shown = tree === undefined ? '' : show(tree)
    return [`${sign} ${path}${shown === '' ? '' : `: ${cut(shown)}`}`]
  }
  if (isBranch(before) && isBranch(after)) {
    const fields = [...namesOf(before, after)]
    return fields.flatMap((field) => compare(join(path, field), before.get(field), after.get(field)))
  }
  const [was, is] = [show(before), show(after)]
  if (was !== is) return [`~ ${path}: ${cut(was)} → ${cut(is)}`]
  const changed = !isBranch(before) && !isBranch(after) && before.fingerprint !== after.fingerprint
  return changed ? [`~ ${path}: ${cut(is)} has changed`] : []
}

/** In the order of the table before, then what is new. */
const namesOf = (before: ReadonlyMap<string, Tree>, after: ReadonlyMap<string, Tree>): ReadonlySet<string> =>
  new Set([...before.keys(), ...after.keys()])

/** `namespace local: timeouts.connect` */
function join(path: string, field: string): string {
  if (!path.includes(': ')) return `${path}: ${field}`
  return field.startsWith('[') ? path + field : `${path}.${field}`
}

/** In one line, as YAML could have it. */
function show(tree: Tree): string {
  if (!isBranch(tree)) return tree.written
  const fields = [...tree].map(([name, value]) => {
    const shown = show(value)
    return shown === '' ? name : `${name}: ${shown}`
  })
  return fields.length === 0 ? '' : `{ ${fields.join(', ')} }`
}

const LONGEST = 100

const cut = (text: string): string => (text.length > LONGEST ? `${text.slice(0, LONGEST)}…` : text)
