import type { ConfigFile, Path, Span } from './config-file.ts'
import type { Substitution, Substitutions } from './interpolate.ts'

/** routes.yaml on its way to a Config: read, its references followed, not yet known to be right. */
export class RawConfig {
  readonly file: ConfigFile
  readonly values: unknown
  readonly #substitutions: Substitutions

  constructor(source: ConfigFile, data: unknown, substitutions: Substitutions) {
    this.file = source
    this.values = data
    this.#substitutions = substitutions
  }

  /** All scalars that hold references. */
  *references(): Iterable<readonly [Path, Substitution]> {
    for (const [path, scalar] of this.file.scalars()) {
      const substitution = this.#substitutions.get(scalar)
      if (substitution) yield [path, substitution]
    }
  }

  /** The references of the scalar at a path; undefined where it has none. */
  substitution(path: Path): Substitution | undefined {
    const scalar = this.file.scalar(path)
    return scalar && this.#substitutions.get(scalar)
  }

  /** Whether a value is still the text of a reference that leads nowhere: there is nothing to check. */
  isUnset(path: Path): boolean {
    return this.substitution(path)?.filled === false
  }

  /** What the file says at a path, for an error to quote; undefined where a reference says it, whose value is a secret. */
  quotable(path: Path): string | undefined {
    return this.substitution(path) ? undefined : this.file.scalar(path)?.source
  }

  /** The scalars below a path that hold text of the file's own, defaults of references included. */
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

/** A map of data that is not checked yet; empty where it is none. A list is a map of its indexes. */
export function asMap(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : {}
}

/** The strings of a list that is not checked yet, each with its index; none where it is no list. */
export function asStrings(value: unknown): readonly (readonly [number, string])[] {
  return Array.isArray(value) ? [...value.entries()].filter(([, entry]) => typeof entry === 'string') : []
}
