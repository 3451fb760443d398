import { stringify } from 'yaml'
import { ConfigFile } from '../../config/file/config-file.ts'
import type { Path } from '../../config/file/path.ts'
import { asMap } from '../../config/file/raw-config.ts'

/** A setting as routes.yaml writes it. */
export interface Quote {
  /** `retry: { attempts: 2 }` */
  readonly says: string
  /** `routes.yaml:12`; absent for a default value. */
  readonly at?: string
}

/** The text of routes.yaml, for quotes. References are not resolved, so that it contains no secrets. */
export class RoutesText {
  readonly #path: string
  readonly #file: ConfigFile
  readonly #data: unknown

  /** `path`: the path of the file as the caller gave it. */
  constructor(path: string, text: string) {
    this.#path = path
    this.#file = new ConfigFile(path, text)
    this.#data = this.#file.toData()
  }

  /** The line of a key or of a list entry: `routes.yaml:12`. */
  lineOf(path: Path): string {
    return `${this.#path}:${this.#file.position(this.#file.keySpan(path)).line}`
  }

  /** Quotes the setting at a path on one line; undefined if there is none. */
  quote(path: Path): Quote | undefined {
    if (!this.#file.has(path)) return undefined
    return { says: `${path.at(-1)}: ${oneLine(this.#value(path))}`, at: this.lineOf(path) }
  }

  /** Quotes the entries of the map at a path: `batch.tokens: 5M/day`. Quotes a scalar as `quote` does. */
  quoteEntries(path: Path): readonly Quote[] {
    const value = this.#value(path)
    if (typeof value !== 'object' || value === null) return [this.quote(path)].filter((quote) => quote !== undefined)
    return Object.keys(value).flatMap((key) => {
      const quote = this.quote([...path, key])
      return quote ? [{ ...quote, says: `${path.at(-1)}.${quote.says}` }] : []
    })
  }

  #value(path: Path): unknown {
    return path.reduce<unknown>((value, segment) => asMap(value)[segment], this.#data)
  }
}

const oneLine = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', flowCollectionPadding: true, lineWidth: 0 }).trim()
