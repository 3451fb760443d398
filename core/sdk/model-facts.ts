import { matchesGlob } from '../text/glob.ts'

/** What is known of models, by globs of their upstream names: data that changes monthly, and that an operator may add to. */
export type FactsByModel<Facts extends object> = Readonly<Record<string, Partial<Facts>>>

/**
 * What is known of one model. `tables` come in the order of their word: the operator's before the one that ships. Within a table each
 * fact is taken from the first row that fits the model and has it; what no row says is as in `otherwise`.
 */
export function modelFacts<Facts extends object>(model: string, tables: readonly FactsByModel<Facts>[], otherwise: Facts): Facts {
  const rows: Partial<Facts>[] = []
  for (const table of tables) {
    for (const glob in table) if (matchesGlob(glob, model)) rows.push(table[glob]!)
  }
  return Object.assign({}, otherwise, ...rows.reverse())
}
