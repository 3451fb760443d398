import type { ConfigFile, Path, Span } from './file.ts'
import type { Substitution, Substitutions } from './interpolate.ts'

/** routes.yaml on its way to a Config: read, its references followed, not yet known to be right. */
export class RawConfig {
  readonly source: ConfigFile
  readonly data: unknown
  readonly #substitutions: Substitutions

  constructor(source: ConfigFile, data: unknown, substitutions: Substitutions) {
    this.source = source
    this.data = data
    this.#substitutions = substitutions
  }

  /** All scalars that hold references. */
  *references(): Iterable<readonly [Path, Substitution]> {
    for (const [path, scalar] of this.source.scalars()) {
      const substitution = this.#substitutions.get(scalar)
      if (substitution) yield [path, substitution]
    }
  }

  /** The references of the scalar at a path; undefined where it has none. */
  substitution(path: Path): Substitution | undefined {
    const scalar = this.source.scalar(path)
    return scalar && this.#substitutions.get(scalar)
  }

  /** Whether a value is still the text of a reference that leads nowhere: there is nothing to check. */
  isUnset(path: Path): boolean {
    return this.substitution(path)?.filled === false
  }

  /** What the file says at a path, for an error to quote; undefined where a reference says it, whose value is a secret. */
  quotable(path: Path): string | undefined {
    return this.substitution(path) ? undefined : this.source.scalar(path)?.source
  }

  /** The scalars below a path that hold text of the file's own, defaults of references included. */
  literals(path: Path): readonly Span[] {
    return [...this.source.scalars(path)].filter(([place]) => this.#isLiteral(place)).map(([place]) => this.source.value(place))
  }

  #isLiteral(path: Path): boolean {
    const substitution = this.substitution(path)
    if (substitution === undefined) return true
    const { references, filled } = substitution
    return references.length === 0 ? filled : references.some(({ fallback = '' }) => fallback !== '')
  }
}
