import type { ConfigFile, Span } from './config-file.ts'
import type { Substitution, Substitutions } from './interpolate.ts'
import type { Path } from './path.ts'

/** The values of a ConfigFile with its references substituted. Not checked: any value may have the wrong type. */
export class RawConfig {
  readonly file: ConfigFile
  readonly values: unknown
  readonly #substitutions: Substitutions

  constructor(file: ConfigFile, substitutions: Substitutions) {
    this.file = file
    this.values = file.toData()
    this.#substitutions = substitutions
  }

  /** All scalars that hold references. */
  *references(): Iterable<readonly [Path, Substitution]> {
    for (const [path, scalar] of this.file.scalars()) {
      const substitution = this.#substitutions.get(scalar)
      if (substitution) yield [path, substitution]
    }
  }

  /** The substitution in the scalar at a path; undefined if it holds no references. */
  substitution(path: Path): Substitution | undefined {
    const scalar = this.file.scalar(path)
    return scalar && this.#substitutions.get(scalar)
  }

  /** Whether the value at a path is still the text of a reference, because its variable or file is not set: it cannot be checked. */
  isUnset(path: Path): boolean {
    return this.substitution(path)?.filled === false
  }

  /** The text of a value for an error to quote; undefined if it comes from a reference, because then it is a secret. */
  quotable(path: Path): string | undefined {
    return this.substitution(path) ? undefined : this.file.scalar(path)?.source
  }

  /** The scalars below a path whose text is in the file itself, defaults of references included. */
  literals(path: Path): readonly Span[] {
    return [...this.file.scalars(path)].filter(([place]) => this.#isLiteral(place)).map(([place]) => this.file.valueSpan(place))
  }

  #isLiteral(path: Path): boolean {
    const substitution = this.substitution(path)
    if (substitution === undefined) return true
    const { references, filled } = substitution
    return references.length === 0 ? filled : references.some(({ fallback = '' }) => fallback !== '')
  }
}

/** An unchecked value as a map: empty if it is not a map. A list becomes a map by index. */
export function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The entries of `namespaces`, unchecked; undefined if they are not a map: the schema reports that, and no other check knows the names. */
export function namespacesOf(values: unknown): Readonly<Record<string, unknown>> | undefined {
  const { namespaces } = asMap(values)
  return typeof namespaces !== 'object' || namespaces === null || Array.isArray(namespaces) ? undefined : asMap(namespaces)
}

/** The strings of an unchecked value, each with its index: none if it is not a list. */
export function asStrings(value: unknown): readonly (readonly [number, string])[] {
  return Array.isArray(value) ? [...value.entries()].filter(([, entry]) => typeof entry === 'string') : []
}
