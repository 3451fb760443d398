import { fileURLToPath } from 'node:url'
import { API, type Checker, SymbolFlags, type Type, type Symbol as TypeSymbol } from 'typescript/unstable/sync'

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url))

/** The paths of the members of each published request body, such as `tools.model`: lists have no step of their own. */
export function publishedMembers(): ReadonlyMap<string, ReadonlySet<string>> {
  const api = new API()
  try {
    const { checker, program } = api.updateSnapshot({ openProject: here('tsconfig.json') }).getProject(here('tsconfig.json'))!
    const file = program.getSourceFile(here('requests.ts'))!
    const requests = checker.resolveName('Requests', SymbolFlags.Interface, file)!
    const walker = new Walker(checker)
    return new Map(
      checker.getPropertiesOfType(checker.getDeclaredTypeOfSymbol(requests)).map((each) => [each.name, walker.pathsOf(each)]),
    )
  } finally {
    api.close()
  }
}

class Walker {
  readonly #checker: Checker
  readonly #members = new Map<number, ReadonlyMap<string, readonly Type[]>>()
  constructor(checker: Checker) {
    this.#checker = checker
  }

  pathsOf(request: TypeSymbol): ReadonlySet<string> {
    const paths = new Set<string>()
    const walk = (type: Type, path: readonly string[], above: ReadonlySet<number>): void => {
      for (const object of this.#objectsOf(type)) {
        if (above.has(object.id)) continue
        for (const [name, types] of this.#membersOf(object)) {
          const own = [...path, name]
          paths.add(own.join('.'))
          for (const each of types) walk(each, own, new Set([...above, object.id]))
        }
      }
    }
    walk(this.#checker.getTypeOfSymbol(request)!, [], new Set())
    return paths
  }

  #membersOf(object: Type): ReadonlyMap<string, readonly Type[]> {
    let known = this.#members.get(object.id)
    if (known === undefined) {
      const all = this.#checker.getPropertiesOfType(object)
      // Files are uploaded: their classes are not written as JSON.
      const properties = all.some(({ name }) => name === 'arrayBuffer' || name.startsWith('__@')) ? [] : all
      const types = this.#checker.getTypeOfSymbol(properties)
      known = new Map(properties.map((p, i) => [p.name, types[i] ? [types[i]!] : []]))
      this.#members.set(object.id, known)
    }
    return known
  }

  /** The object types in a type: of each member of a union, of the elements of lists. */
  *#objectsOf(type: Type): Iterable<Type> {
    if (type.isUnionType()) {
      for (const each of type.getTypes()!) yield* this.#objectsOf(each)
    } else if (type.isTypeReference() && ['Array', 'ReadonlyArray'].includes(type.getTarget().getSymbol()?.name ?? '')) {
      for (const each of this.#checker.getTypeArguments(type)) yield* this.#objectsOf(each)
    } else if (type.isObjectType()) yield type
  }
}
