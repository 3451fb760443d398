import { stringify } from 'yaml'
import type { Config, TargetConfig } from '../config/config.ts'
import { ConfigFile } from '../config/file/config-file.ts'
import type { Path } from '../config/file/path.ts'
import { asMap } from '../config/file/raw-config.ts'
import type { Branch, Choice, Route } from '../routing/route.ts'

/** A model, and what serves it. */
export interface ExplainedModel {
  readonly id: string
  /** `routes.yaml:12` */
  readonly at: string
  /** Its share of the calls to the model above it, from 0 to 1, where weights decide. */
  readonly share?: number
  /** The plugin that serves it; absent for a curated model. */
  readonly provider?: string
  /** Why it cannot be reached: `not set: OPENAI_API_KEY`. */
  readonly leftOut?: string
  /** Of a curated model. */
  readonly targets?: readonly ExplainedModel[]
  readonly fallbacks?: readonly ExplainedModel[]
  /** How its targets are chosen, tried and asked. */
  readonly rules?: readonly Saying[]
}

/** What a curated model leads to. */
type Inside = Pick<ExplainedModel, 'targets' | 'fallbacks' | 'rules'>

/** What explaining takes. */
export interface Sources {
  readonly written: Written
  readonly config: Config
}

/** Fields of a curated model that hold wherever it is reached from; `retry` is that of the model asked for. */
const RULES = ['choose', 'sticky', 'defaults', 'timeouts', 'strict']

/** What serves the calls along a route. */
export function explainRoute({ id, leads, retry }: Route, sources: Sources): ExplainedModel {
  if ('target' in leads)
    return { id, at: sources.written.at(['namespaces', split(id).namespace]), provider: leads.target.served.provider }
  const path = pathOf(id)
  const tries: Saying = sources.written.says([...path, 'retry']) ?? { says: `retry: { attempts: ${retry.attempts} }` }
  const model = explainChoice(leads, sources)
  return { id, at: sources.written.at(path), ...model, rules: [tries, ...model.rules] }
}

function explainChoice(choice: Choice, sources: Sources): Inside & { readonly rules: readonly Saying[] } {
  const { namespace, model } = split(choice.id)
  const { targets, fallbacks } = sources.config.curated.get(namespace)!.routes.get(model)!
  const path = pathOf(choice.id)
  const total = choice.targets.reduce((sum, { weight }) => sum + weight, 0)
  const member = (field: string, branches: readonly Branch[]) => (target: TargetConfig, index: number) => {
    const branch = branches.find((each) => nameOf(each) === target.model)
    const at = sources.written.at([...path, field, index])
    const share = field === 'targets' && choice.by === 'weight' && { share: (branch?.weight ?? 0) / (total || 1) }
    return {
      id: target.model,
      at,
      ...share,
      ...(branch ? explainBranch(branch, sources) : { leftOut: whyLeftOut(target.model, sources.config) }),
    }
  }
  return {
    targets: targets.map(member('targets', choice.targets)),
    fallbacks: fallbacks.map(member('fallbacks', choice.fallbacks)),
    rules: RULES.flatMap((field) => sources.written.says([...path, field]) ?? []),
  }
}

function explainBranch(branch: Branch, sources: Sources): Inside | Pick<ExplainedModel, 'provider'> {
  return 'candidate' in branch ? { provider: branch.candidate.target.served.provider } : explainChoice(branch.choice, sources)
}

/** Why a model of the table cannot be reached: `not set: OPENAI_API_KEY`. */
export function whyLeftOut(id: string, { namespaces }: Config): string {
  const dormant = namespaces.get(split(id).namespace)?.dormant
  return dormant === undefined ? 'so is all that it leads to' : `not set: ${dormant}`
}

const nameOf = (branch: Branch): string => ('candidate' in branch ? branch.candidate.target.id : branch.choice.id)

/** Where a curated model stands. */
function pathOf(id: string): Path {
  const { namespace, model } = split(id)
  return ['namespaces', namespace, 'models', model]
}

/** A model id at its first slash. */
function split(id: string): { readonly namespace: string; readonly model: string } {
  const slash = id.indexOf('/')
  return { namespace: id.slice(0, slash), model: id.slice(slash + 1) }
}

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
  readonly #source: ConfigFile
  readonly #data: unknown

  /** `file`: as the person named it. */
  constructor(file: string, text: string) {
    this.#file = file
    this.#source = new ConfigFile(file, text)
    this.#data = this.#source.toData()
  }

  /** `routes.yaml:12`: where a key stands, or an entry of a list. */
  at(path: Path): string {
    return `${this.#file}:${this.#source.position(this.#source.keySpan(path)).line}`
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
