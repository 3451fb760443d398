import { stringify } from 'yaml'
import { asMap } from '../../config/loose.ts'
import { type Path, Source } from '../../config/text/source.ts'
import { toData } from '../../config/text/syntax.ts'

/** A thing that the table says, in its own words. */
export interface Saying {
  /** `retry: { attempts: 2 }` */
  readonly says: string
  /** `routes.yaml:12`; absent where the file does not say it, and it holds all the same. */
  readonly at?: string
}

/** A routing table as it is written: references are not followed, so that nothing secret is in it. */
export class Written {
  readonly #file: string
  readonly #source: Source
  readonly #data: unknown

  /** `file`: as the person named it. */
  constructor(file: string, text: string) {
    this.#file = file
    this.#source = new Source(file, text)
    this.#data = toData(this.#source)
  }

  /** `routes.yaml:12`: where a key stands, or an entry of a list. */
  at(path: Path): string {
    return `${this.#file}:${this.#source.position(this.#source.key(path)).line}`
  }

  /** What the file says at a path, as a person would write it on one line; undefined where it says nothing. */
  says(path: Path): Saying | undefined {
    if (!this.#source.has(path)) return undefined
    return { says: `${path.at(-1)}: ${oneLine(this.#value(path))}`, at: this.at(path) }
  }

  /** What the file says below a path, entry by entry: `batch.tokens: 5M/day`. */
  entries(path: Path): readonly Saying[] {
    const value = this.#value(path)
    if (typeof value !== 'object' || value === null) return [this.says(path)].filter((saying) => saying !== undefined)
    return Object.keys(value).flatMap((key) => {
      const saying = this.says([...path, key])
      return saying ? [{ ...saying, says: `${path.at(-1)}.${saying.says}` }] : []
    })
  }

  #value(path: Path): unknown {
    return path.reduce<unknown>((value, segment) => asMap(value)[segment], this.#data)
  }
}

const oneLine = (value: unknown): string =>
  stringify(value, { collectionStyle: 'flow', flowCollectionPadding: true, lineWidth: 0 }).trim()
