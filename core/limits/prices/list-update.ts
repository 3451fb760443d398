import type { SourceName } from '../../config/schema/prices.ts'
import { isBefore, packagedList } from './catalogue.ts'
import { type ListText, listOf, orRefused, type Refused, readListData, type Threads } from './list-data.ts'
import { type ListedClass, named, type PublishedList, RefusedList } from './published-list.ts'
import { PRESET_VENDORS, PROVIDER_VENDORS } from './vendors.ts'

/** The vendors whose list prices apply to namespaces. */
const VENDORS = [...new Set([...Object.values(PROVIDER_VENDORS), ...Object.values(PRESET_VENDORS)])]

/** The vendors that every list has. */
const EXPECTED = ['anthropic', 'google', 'openai']

/** A price that changes by more than this factor is a mistake, or an attack. */
export const MAX_CHANGE = 10

/** The part of a vendor's models that a list may lose: a list that loses more is cut, or old. */
const MAX_LOST = 1 / 4

/** How a list differs from the one before it, in the models of the gateway's vendors. */
export interface ListChanges {
  /** As `<vendor>/<model>`. */
  readonly added: readonly string[]
  readonly removed: readonly string[]
  /** As `openai/gpt-5.5: input 5 → 4`. */
  readonly changed: readonly string[]
}

/** A list that may follow the one in use. */
export interface NextList extends ListText {
  /** The text that is kept. */
  readonly kept?: string | undefined
  readonly acceptChanges: boolean
}

/** A list that can be believed, or why it cannot. */
export type Checked = { readonly version: string; readonly changes: ListChanges } | Refused

/** Checks lists. */
export type ListCheck = (list: NextList) => Promise<Checked>

/** Reads a list, and compares it with the one in use. */
export const checkList: ListCheck = ({ source, text, kept, acceptChanges }) =>
  orRefused(async () => {
    const data = readListData({ source, text })
    return { version: data.version, changes: changesOf(listOf(data), await currentList(source, kept), acceptChanges) }
  })

/** `checkList` in a thread. */
export const checkBy =
  (threads: Threads): ListCheck =>
  (list) =>
    threads.run(new URL(import.meta.url), 'checkList', list) as Promise<Checked>

/** The list that applies now; undefined for one that has none in the package. A kept list that cannot be read is ignored. */
async function currentList(source: SourceName, kept: string | undefined): Promise<PublishedList | undefined> {
  const own = source === 'genai-prices' ? await packagedList() : undefined
  const data = kept === undefined ? undefined : await orRefused(() => readListData({ source, text: kept }))
  if (data === undefined || 'refused' in data) return own
  const list = listOf(data)
  return own !== undefined && isBefore(list, own) ? own : list
}

/**
 * Compares a list with the one in use. Throws `RefusedList` if it lacks vendors or many models, is older, or has a price that has changed by
 * more than `MAX_CHANGE`; `acceptChanges`: an operator has looked at the prices. `current`: undefined for the first list of its source.
 */
function changesOf(next: PublishedList, current: PublishedList | undefined, acceptChanges: boolean): ListChanges {
  const missing = VENDORS.filter((vendor) => (current?.has(vendor) || EXPECTED.includes(vendor)) && !next.has(vendor))
  if (missing.length > 0) throw new RefusedList(`it has no prices of ${missing.join(', ')}`)
  if (current === undefined) return { added: [], removed: [], changed: [] }
  if (isBefore(next, current))
    throw new RefusedList(`it is older: the last day it names is ${next.latest}, and not ${current.latest}`)
  const changes = VENDORS.map((vendor) => changesOfVendor(vendor, next, current))
  const absurd = changes.flatMap((each) => each.absurd)
  if (absurd.length > 0 && !acceptChanges)
    throw new RefusedList(
      `${absurd[0]}: more than ${MAX_CHANGE} times${absurd.length > 1 ? `, and ${absurd.length - 1} more` : ''}; ` +
        'if the vendor says so, run umg prices update --accept-changes',
    )
  return {
    added: changes.flatMap((each) => each.added),
    removed: changes.flatMap((each) => each.removed),
    changed: changes.flatMap((each) => each.changed),
  }
}

function changesOfVendor(
  vendor: string,
  next: PublishedList,
  current: PublishedList,
): ListChanges & { readonly absurd: readonly string[] } {
  const now = Date.now()
  const [before, after] = [current.prices(vendor, now), next.prices(vendor, now)]
  const idOf = (model: string) => named(`${vendor}/${model}`)
  const removed = [...before.keys()].filter((model) => !after.has(model))
  if (removed.length > before.size * MAX_LOST)
    throw new RefusedList(
      `it lacks ${removed.length} of the ${before.size} models of ${vendor}, such as ${idOf(removed[0]!)}: it is cut or old`,
    )
  const [changed, absurd]: [string[], string[]] = [[], []]
  for (const [model, usd] of before) {
    for (const [name, was] of Object.entries(usd)) {
      const is = after.get(model)?.[name as ListedClass]
      if (typeof was !== 'number' || typeof is !== 'number' || was === is) continue
      const text = `${idOf(model)}: ${name} ${was} → ${is}`
      changed.push(text)
      // What was free may have got a price.
      if (was > 0 && (is > was * MAX_CHANGE || is < was / MAX_CHANGE)) absurd.push(text)
    }
  }
  return { added: [...after.keys()].filter((model) => !before.has(model)).map(idOf), removed: removed.map(idOf), changed, absurd }
}
