import type { Installed } from './check/install.ts'
import type { Routes } from './schema.ts'
import type { Reference } from './text/reference.ts'
import type { Source } from './text/source.ts'

/** A table in which nothing is wrong. */
export interface CheckedTable {
  readonly source: Source
  readonly routes: Routes
  /** By index in the chain. */
  readonly links: ReadonlyMap<string, Installed<'chain'>>
  /** By namespace. */
  readonly providers: ReadonlyMap<string, Installed<'provider'>>
  /** By namespace, what it lacks. */
  readonly dormant: ReadonlyMap<string, readonly Reference[]>
  /** Those that plugins declare. */
  readonly rateClasses: readonly string[]
}
