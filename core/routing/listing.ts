import { BoundedMap } from '../async/bounded-map.ts'
import { type KnownFacts, type KnownModel, whatAllAre } from '../protocol/known-model.ts'
import type { Model, ModelId, Principal, Served } from '../sdk/api.ts'
import { tableFor } from './handler.ts'
import type { NamedProvider, Namespace, RoutingTable } from './table.ts'

/** The models of a namespace, as they were put together of one discovered list. */
interface Described {
  readonly from: readonly Model[]
  /** Milliseconds since 1970: some prices change with the time. */
  readonly until: number
  /** By id. */
  readonly models: ReadonlyMap<string, KnownModel>
}

/** A form in which clients read lists. */
export interface ListForm {
  readonly name: string
  readonly write: (models: readonly KnownModel[]) => string
}

/** The most lists that are kept: keys and accounts with the same globs share one. */
const MAX_LISTS = 100

/** The most that are kept as bytes too: those of 5,000 models are a megabyte. */
const MAX_WRITTEN = 16

/** How long a description is used, in milliseconds. */
const FRESH_MS = 5 * 60_000

/** The most models of a namespace that are looked up in price lists, which have fewer: a look-up is a search. */
const MAX_LOOKED_UP = 1000

/** The models of one version of routes.yaml, with what is known of them: put together once for all callers. */
export class ModelListing {
  readonly #table: RoutingTable
  readonly #factsOf: (served: Served) => KnownFacts
  readonly #described = new Map<string, Described>()
  /** The lists were made of these: when one of them changes, all lists are made again. */
  #all: readonly Described[] = []
  #curated: readonly KnownModel[] | undefined
  /** The models that all principals with the same lists of globs may call, by the kind of key and the lists of globs. */
  readonly #lists = new BoundedMap<string, readonly KnownModel[]>(MAX_LISTS)
  /** The same as bytes, by the form too. */
  readonly #written = new BoundedMap<string, Buffer>(MAX_WRITTEN)

  constructor(table: RoutingTable, factsOf: (served: Served) => KnownFacts) {
    this.#table = table
    this.#factsOf = factsOf
  }

  /** The models that a principal may call: those that routes.yaml names and those discovered. A failed discovery omits its namespace only. */
  async list(principal: Principal): Promise<readonly KnownModel[]> {
    await this.#update()
    return this.#listOf(principal)
  }

  /** The same as bytes. */
  async written(principal: Principal, form: ListForm): Promise<Buffer> {
    await this.#update()
    const name = `${form.name} ${nameOf(principal)}`
    const known = this.#written.get(name)
    if (known !== undefined) return known
    const bytes = Buffer.from(form.write(this.#listOf(principal)))
    this.#written.set(name, bytes)
    return bytes
  }

  async #update(): Promise<void> {
    this.#renew(await Promise.all([...this.#table.namespaces.values()].map((namespace) => this.#modelsOf(namespace))))
  }

  #listOf(principal: Principal): readonly KnownModel[] {
    const name = nameOf(principal)
    const known = this.#lists.get(name)
    if (known !== undefined) return known
    const isServed = this.#table.served(principal)
    const models = [...this.#curatedModels(), ...this.#all.flatMap(({ models }) => [...models.values()])].filter(({ id }) => {
      const model = this.#table.resolve(id)
      return model !== undefined && isServed(model)
    })
    this.#lists.set(name, models)
    return models
  }

  /** Drops what was made of other descriptions: lists that nobody asks for would keep those in memory. */
  #renew(described: readonly Described[]): void {
    if (described.length === this.#all.length && described.every((each, index) => each === this.#all[index])) return
    this.#all = described
    this.#curated = undefined
    this.#lists.clear()
    this.#written.clear()
  }

  /** The model of a name; undefined if no model has it, or the principal may not call it. */
  async find(name: string, principal: Principal): Promise<KnownModel | undefined> {
    const model = this.#table.resolve(name)
    if (model === undefined || !this.#table.served(principal)(model)) return undefined
    const namespace = this.#table.namespaces.get(model.namespace)
    if (namespace === undefined) return await this.#curatedModel(model)
    const { models } = await this.#modelsOf(namespace)
    // A model of a namespace without discovery that passes model names through may be called, so it is listed.
    return models.get(model.id) ?? (namespace.catalogue.complete ? undefined : this.#describe(namespace, { id: model.model }))
  }

  async #modelsOf(namespace: Namespace): Promise<Described> {
    const { name, models = [], catalogue } = namespace
    const from = await catalogue.models()
    const known = this.#described.get(name)
    if (known !== undefined && known.from === from && Date.now() < known.until) return known
    const listed = new Map<string, Model>()
    for (const id of models) if (!id.includes('*')) listed.set(id, { id })
    for (const model of from) listed.set(model.id, model)
    const all = [...listed.values()].map((model, index) => this.#describe(namespace, model, index < MAX_LOOKED_UP))
    const described = { from, until: Date.now() + FRESH_MS, models: new Map(all.map((model) => [model.id, model])) }
    this.#described.set(name, described)
    return described
  }

  #describe({ name, upstream }: Namespace, model: Model, isLookedUp = true): KnownModel {
    const { id, created = 0, owned_by = name, capabilities } = model
    const served = upstream && { namespace: name, model: id, provider: upstream.name }
    const facts: KnownFacts = served && isLookedUp ? this.#factsOf(served) : {}
    return {
      id: `${name}/${id}`,
      created,
      owner: owned_by,
      name: model.name,
      context: model.context_length ?? facts.context,
      output: model.max_output_tokens ?? facts.output,
      reads: model.input_modalities,
      writes: model.output_modalities,
      parameters: model.supported_parameters ?? (upstream && parametersOf(upstream, id)),
      capabilities,
      price: facts.price,
    }
  }

  #curatedModels(): readonly KnownModel[] {
    if (this.#curated !== undefined) return this.#curated
    const known = new Map(this.#all.flatMap(({ models }) => [...models]))
    const ids = [...this.#table.curated.values()].flatMap(({ name, routes }) => [...routes.keys()].map((id) => `${name}/${id}`))
    this.#curated = ids.map((id) => this.#combine(this.#table.resolve(id)!, known))
    return this.#curated
  }

  async #curatedModel(model: ModelId): Promise<KnownModel> {
    const names = new Set(this.#table.targetsOf(model).map(({ namespace }) => namespace))
    const described = await Promise.all([...names].map((name) => this.#modelsOf(this.#table.namespaces.get(name)!)))
    return this.#combine(model, new Map(described.flatMap(({ models }) => [...models])))
  }

  /** What holds for each target of a curated model. */
  #combine(model: ModelId, known: ReadonlyMap<string, KnownModel>): KnownModel {
    const targets = this.#table
      .targetsOf(model)
      .map(({ id, namespace, model }) => known.get(id) ?? this.#describe(this.#table.namespaces.get(namespace)!, { id: model }))
    return { ...whatAllAre(targets), id: model.id, created: 0, owner: model.namespace }
  }
}

/** The name of the list of a principal. */
const nameOf = ({ kind, models }: Principal): string => JSON.stringify([kind, models])

/** The parameters of chat completions that a provider maps; undefined if it passes all on, and the upstream decides. */
function parametersOf({ provider }: NamedProvider, model: string): readonly string[] | undefined {
  const table = tableFor(provider, model)
  if (table === 'verbatim') return undefined
  const taken = Object.entries(table).filter(([name, { support }]) => !name.includes('.') && TAKEN.has(support))
  return taken.map(([name]) => name)
}

const TAKEN: ReadonlySet<string> = new Set(['mapped', 'applied'])
