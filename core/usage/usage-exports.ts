import type { Store } from '../store/database.ts'
import { csvLine } from './csv.ts'
import { MEASURES, type Measures } from './measures.ts'
import { labelsOf } from './names.ts'
import { allSums, nameOf, type UsageQuery } from './usage-query.ts'

/** What the calls of one name come to in one hour or day. */
interface UsageLine extends Measures {
  readonly t: string
  readonly name: string
  readonly label: string
}

/** Usage as CSV with a heading: a line for each name in each hour or day that has calls. Throws `invalid_value`. */
export async function* usageAsCsv(store: Store, query: UsageQuery): AsyncGenerator<string> {
  const columns = ['t', 'name', 'label', ...MEASURES] as const
  yield csvLine(columns)
  for await (const lines of usageLines(store, query))
    yield lines.map((line) => csvLine(columns.map((column) => line[column]))).join('')
}

/** The same as JSON Lines. */
export async function* usageAsJsonLines(store: Store, query: UsageQuery): AsyncGenerator<string> {
  for await (const lines of usageLines(store, query)) yield lines.map((line) => `${JSON.stringify(line)}\n`).join('')
}

async function* usageLines(store: Store, query: UsageQuery): AsyncGenerator<readonly UsageLine[]> {
  for await (const sums of allSums(store, query)) {
    const labels = await labelsOf(
      store,
      query.group,
      sums.map((sum) => nameOf(query, sum)),
    )
    yield sums.map(({ at, scope, name: own, ...measures }) => {
      const name = nameOf(query, { scope, name: own })
      return { t: new Date(at).toISOString(), name, label: labels.get(name) ?? name, ...measures }
    })
  }
}
