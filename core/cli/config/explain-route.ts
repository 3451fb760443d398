import type { Config, TargetConfig } from '../../config/config.ts'
import type { Path } from '../../config/file/path.ts'
import type { Sticky } from '../../config/schema/sticky.ts'
import type { Branch, Candidate, Choice, Route } from '../../routing/route.ts'
import { stickyOf } from '../../routing/selection.ts'
import type { Quote, RoutesText } from './routes-text.ts'

/** A model, and the models that serve its calls. */
export interface ExplainedModel {
  readonly id: string
  /** `routes.yaml:12` */
  readonly at: string
  /** The share of the calls that it gets from the model above it, from 0 to 1; absent if weights do not decide. */
  readonly share?: number
  /** The plugin that serves it; absent for a curated model. */
  readonly provider?: string
  /** The names of the credentials that share its calls, if there are several. */
  readonly credentials?: readonly string[]
  /** By what calls keep to one of these credentials. */
  readonly sticky?: Sticky
  /** The limits of its namespace, if it has any. */
  readonly limits?: Quote
  /** Why it is left out: `not set: OPENAI_API_KEY`. */
  readonly leftOut?: string
  /** Of a curated model. */
  readonly targets?: readonly ExplainedModel[]
  /** Of a curated model. */
  readonly fallbacks?: readonly ExplainedModel[]
  /** The settings of a curated model. */
  readonly rules?: readonly Quote[]
}

type CuratedModel = Required<Pick<ExplainedModel, 'targets' | 'fallbacks' | 'rules'>>

/** The fields of a curated model that apply to all its calls. `retry` applies only to calls that name the model. */
const RULES = ['choose', 'sticky', 'defaults', 'timeouts', 'strict']

/** Explains the model of a route. */
export function explainRoute({ id, leads, retry }: Route, config: Config, text: RoutesText): ExplainedModel {
  if ('target' in leads)
    return { id, at: text.lineOf(['namespaces', split(id).namespace]), ...explainTarget(leads, config, text) }
  const path = pathOf(id)
  const retries: Quote = text.quote([...path, 'retry']) ?? { says: `retry: { attempts: ${retry.attempts} }` }
  const model = explainChoice(leads, config, text)
  return { id, at: text.lineOf(path), ...model, rules: [retries, ...model.rules] }
}

function explainChoice(choice: Choice, config: Config, text: RoutesText): CuratedModel {
  const { namespace, model } = split(choice.id)
  const { targets, fallbacks } = config.curated.get(namespace)!.routes.get(model)!
  const path = pathOf(choice.id)
  const totalWeight = choice.targets.reduce((sum, { weight }) => sum + weight, 0)
  const explainAll = (field: 'targets' | 'fallbacks', branches: readonly Branch[]) => (target: TargetConfig, index: number) => {
    const branch = branches.find((each) => idOf(each) === target.model)
    const at = text.lineOf([...path, field, index])
    const share = field === 'targets' && choice.by === 'weight' && { share: (branch?.weight ?? 0) / (totalWeight || 1) }
    const served = branch ? explainBranch(branch, config, text) : { leftOut: whyLeftOut(target.model, config) }
    return { id: target.model, at, ...share, ...served }
  }
  return {
    targets: targets.map(explainAll('targets', choice.targets)),
    fallbacks: fallbacks.map(explainAll('fallbacks', choice.fallbacks)),
    rules: RULES.flatMap((field) => text.quote([...path, field]) ?? (field === 'sticky' ? stickyByDefault(choice) : [])),
  }
}

/** Where routes.yaml does not say it, and there is a choice. */
function stickyByDefault(choice: Choice): readonly Quote[] {
  const sticky = stickyOf(choice)
  return sticky === undefined ? [] : [{ says: `sticky: ${sticky}` }]
}

type UpstreamModel = Pick<ExplainedModel, 'provider' | 'credentials' | 'sticky' | 'limits'>

function explainBranch(branch: Branch, config: Config, text: RoutesText): CuratedModel | UpstreamModel {
  return 'candidate' in branch ? explainTarget(branch.candidate, config, text) : explainChoice(branch.choice, config, text)
}

function explainTarget({ target: { served, upstream, sticky } }: Candidate, config: Config, text: RoutesText): UpstreamModel {
  const { namespace, provider } = served
  const limits = upstream.limits && text.quote(['namespaces', namespace, 'limits'])
  const credentials = upstream.credentials && config.namespaces.get(namespace)?.credentials
  return { provider, ...(credentials && { credentials: [...credentials.keys()], sticky }), ...(limits && { limits }) }
}

/** Why a model is left out: `not set: OPENAI_API_KEY`; of a curated one what is not set for any of its models. */
export function whyLeftOut(id: string, config: Config): string {
  return `not set: ${[...new Set(unsetFor(id, config))].join(', ')}`
}

function unsetFor(id: string, config: Config): readonly string[] {
  const { namespace, model } = split(id)
  const route = config.curated.get(namespace)?.routes.get(model)
  if (route === undefined) return config.namespaces.get(namespace)?.dormant?.split(', ') ?? []
  return [...route.targets, ...route.fallbacks].flatMap((member) => unsetFor(member.model, config))
}

const idOf = (branch: Branch): string => ('candidate' in branch ? branch.candidate.target.id : branch.choice.id)

/** The path of a curated model in routes.yaml. */
function pathOf(id: string): Path {
  const { namespace, model } = split(id)
  return ['namespaces', namespace, 'models', model]
}

/** Splits a model id at its first slash. */
function split(id: string): { readonly namespace: string; readonly model: string } {
  const slash = id.indexOf('/')
  return { namespace: id.slice(0, slash), model: id.slice(slash + 1) }
}
