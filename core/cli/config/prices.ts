import type { Generation } from '../../call/generation.ts'
import { loadConfig } from '../../config/load.ts'
import { namedModels } from '../../config/named-models.ts'
import { type ListUpdate, updateLists } from '../../gateway/price-updates.ts'
import type { Price } from '../../limits/prices/price.ts'
import { ConfigError } from '../../text/diagnostic.ts'
import { connectorWith } from '../../upstream/client.ts'
import { throughProxy } from '../../upstream/through-proxy.ts'
import { withValidGeneration } from '../generation.ts'
import { type CommandIo, type JsonOption, type TableFormat, writeJson, writeTable } from '../output.ts'
import { printConfigError } from '../validation-report.ts'

/** The options of `umg prices update`. */
export interface UpdatePricesOptions extends JsonOption {
  readonly acceptChanges?: boolean
}

/**
 * `umg prices update`: updates the lists of a routing table. Resolves to the exit code: 0, 1 if a list was refused or not read, 2 if the
 * routing table is not valid.
 */
export async function updatePrices(
  file: string,
  { json, acceptChanges = false }: UpdatePricesOptions,
  io: CommandIo,
): Promise<0 | 1 | 2> {
  try {
    const { prices } = await loadConfig(file, io.env)
    const updates = await updateLists(prices.lists, { connect: throughProxy(connectorWith(), io.env), acceptChanges })
    if (json) writeJson(updates, io)
    else for (const update of updates) print(update, io)
    return updates.some(({ reason }) => reason !== undefined) ? 1 : 0
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    printConfigError(error, file, io, json ? { json } : {})
    return 2
  }
}

function print({ source, from, result, version, changes, reason }: ListUpdate, { stdout, stderr }: CommandIo): void {
  if (reason !== undefined) {
    const what = result === 'refused' ? 'refused' : 'not read'
    stderr.write(`${source}: ${what}: ${reason} (${from}). The last good list stays in use.\n`)
    return
  }
  if (changes === undefined) {
    stdout.write(`${source}: unchanged, ${version}\n`)
    return
  }
  const { added, removed, changed } = changes
  stdout.write(
    `${source}: updated to ${version}; models: ${added.length} new, ${removed.length} gone; prices: ${changed.length} changed\n`,
  )
  for (const each of changed) stdout.write(`  ${each}\n`)
}

/** The options of `umg prices list`. */
export interface ListPricesOptions extends JsonOption {
  /** Whether the models of vendors are listed that the routing table does not name. */
  readonly all?: boolean
}

/** A model, and what it costs. */
interface PricedModel {
  readonly model: string
  /** US dollars per million tokens; null: unknown. */
  readonly input_usd: number | null
  readonly output_usd: number | null
  /** The name of the price, its source and version; null if none is known. */
  readonly price: string | null
  /** What the second list says, if that is another price. */
  readonly differs: { readonly list: string; readonly usd: Readonly<Record<string, number>> } | null
}

/** `umg prices list`: prints the prices of models. Resolves to the exit code: 0, or 1 if the routing table is not valid. */
export async function listPrices(file: string, options: ListPricesOptions, io: CommandIo): Promise<0 | 1> {
  const models = await withValidGeneration(file, options, io, (generation) => pricedModels(generation, options.all === true))
  if (models === undefined) return 1
  if (options.json) writeJson(models, io)
  else writeTable(models, TABLE, io)
  return 0
}

const usd = (amount: number | null): string => (amount === null ? 'unknown' : String(amount))

const TABLE: TableFormat<PricedModel> = {
  columns: {
    MODEL: ({ model }) => model,
    INPUT: ({ input_usd }) => usd(input_usd),
    OUTPUT: ({ output_usd }) => usd(output_usd),
    PRICE: ({ price }) => price ?? '-',
    DIFFERS: ({ differs }) =>
      differs === null
        ? '-'
        : `${differs.list}: ${Object.entries(differs.usd)
            .map(([name, amount]) => `${name} ${amount}`)
            .join(', ')}`,
  },
  empty: 'The routing table names no models; --all lists those of the vendors.',
}

function pricedModels({ config, prices }: Pick<Generation, 'config' | 'prices'>, all: boolean): readonly PricedModel[] {
  const named = [...namedModels(config)]
  return [...config.namespaces.values()].flatMap(({ name: namespace, plugin, dormant }) => {
    if (dormant !== undefined) return []
    const own = named.filter((id) => id.startsWith(`${namespace}/`)).map((id) => id.slice(namespace.length + 1))
    const models = new Set([...own, ...(all ? prices.listedModels(namespace) : [])])
    return [...models].map((model): PricedModel => {
      const served = { namespace, model, provider: plugin.name }
      const price = prices.priceOf(served)
      const second = prices.secondOf(served)
      const differs =
        second === undefined || second.differs.length === 0
          ? null
          : { list: second.name, usd: Object.fromEntries(second.differs.map((name) => [name, second.usd[name]!])) }
      return { model: `${namespace}/${model}`, ...amountsOf(price), price: price?.name ?? null, differs }
    })
  })
}

/** Of short prompts. */
function amountsOf(price: Price | undefined): Pick<PricedModel, 'input_usd' | 'output_usd'> {
  const { input, output } = price?.tiers.at(-1)?.rates ?? {}
  const dollars = (micros: number | undefined) => (micros === undefined ? null : micros / 1e6)
  return { input_usd: dollars(input), output_usd: dollars(output) }
}
