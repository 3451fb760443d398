import fc from 'fast-check'
import { stringify } from 'yaml'
import type { Config, CuratedNamespace, RouteConfig } from '../../../core/config/config.ts'
import { RETRY_CAUSES, type RetryCause } from '../../../core/config/schema/retry-causes.ts'

/** The upstreams of every random table. Each has two models. */
export const UPSTREAMS = ['one', 'two', 'three'] as const

/** A random table, and a call under random conditions. */
export interface Case {
  readonly routes: readonly RouteSpec[]
  /** Namespaces that are left out. */
  readonly dormant: ReadonlySet<string>
  readonly failing: ReadonlyMap<string, RetryCause>
  /** The model that the call names. */
  readonly model: string
  readonly key: string
  readonly body: Readonly<Record<string, unknown>>
  readonly seed: number
}

interface RouteSpec {
  readonly targets: readonly { readonly member: number; readonly weight: number }[]
  readonly fallbacks: readonly number[]
  readonly choose: RouteConfig['choose']
  readonly sticky: RouteConfig['sticky']
  readonly attempts: number
  readonly on: readonly RetryCause[]
  readonly defaults: Readonly<Record<string, unknown>>
  readonly strict: boolean
}

const UPSTREAM_MODELS = UPSTREAMS.flatMap((name) => [`${name}/large`, `${name}/small`])

/** Timeouts are rare, because they slow the test down. */
const cause = fc.oneof(
  { weight: 30, arbitrary: fc.constantFrom(...RETRY_CAUSES.filter((each) => each !== 'timeout')) },
  { weight: 1, arbitrary: fc.constant<RetryCause>('timeout') },
)

const member = fc.nat(20)
const parameters = fc.subarray(['temperature', 'seed', 'logprobs']).map(parameterValues)

const route: fc.Arbitrary<RouteSpec> = fc.record({
  targets: fc.array(fc.record({ member, weight: fc.integer({ min: 1, max: 9 }) }), { minLength: 1, maxLength: 4 }),
  fallbacks: fc.array(member, { maxLength: 3 }),
  choose: fc.constantFrom('weight', 'weight', 'latency', 'busy'),
  sticky: fc.constantFrom('session', 'none', 'key', 'user'),
  attempts: fc.integer({ min: 1, max: 5 }),
  on: fc.oneof(fc.constant([...RETRY_CAUSES]), fc.subarray([...RETRY_CAUSES])),
  defaults: fc.oneof(fc.constant({}), parameters),
  strict: fc.boolean(),
})

/** Tables with calls of their models. */
export const cases: fc.Arbitrary<Case> = fc.array(route, { minLength: 1, maxLength: 4 }).chain((routes) =>
  fc.record({
    routes: fc.constant(routes),
    dormant: fc
      .oneof({ weight: 3, arbitrary: fc.constant([]) }, fc.subarray([...UPSTREAMS]))
      .map((names) => new Set<string>(names)),
    failing: fc
      .dictionary(fc.constantFrom(...UPSTREAMS, ...UPSTREAM_MODELS), cause, { maxKeys: 5 })
      .map((names) => new Map(Object.entries(names))),
    model: fc.oneof(
      { weight: 9, arbitrary: fc.nat(routes.length - 1).map((number) => `acme/r${number}`) },
      { weight: 1, arbitrary: fc.constantFrom(...UPSTREAM_MODELS) },
    ),
    key: fc.constantFrom('key_1', 'key_2', 'key_3'),
    body: fc
      .tuple(parameters, fc.constantFrom({}, { user: 'ann' }, { user: 'bob' }))
      .map(([some, user]) => ({ ...some, ...user })),
    seed: fc.nat(),
  }),
)

function parameterValues(names: readonly string[]): Readonly<Record<string, unknown>> {
  const values: Readonly<Record<string, unknown>> = { temperature: 0.2, seed: 7, logprobs: true }
  return Object.fromEntries(names.map((name) => [name, values[name]]))
}

/** The curated models of a case, and their YAML. A route leads to models of upstreams and to the routes before it. */
export function curatedOf({ routes }: Case): { readonly curated: Config['curated']; readonly text: string } {
  const configs = routes.map((spec, number) => toConfig(spec, number))
  const namespace: CuratedNamespace = {
    name: 'acme',
    routes: new Map(configs.map((config, number) => [`r${number}`, config])),
    at: NOWHERE,
  }
  return { curated: new Map([['acme', namespace]]), text: stringify({ namespaces: { acme: { models: toYaml(configs) } } }) }
}

const NOWHERE = { file: 'random.yaml', line: 1, column: 1 }

function toConfig(spec: RouteSpec, number: number): RouteConfig {
  const known = [...UPSTREAM_MODELS, ...Array.from({ length: number }, (_, before) => `acme/r${before}`)]
  const target = (index: number, weight = 1) => ({ model: known[index % known.length]!, weight, at: NOWHERE })
  const { choose, sticky, attempts, on, defaults, strict } = spec
  return {
    id: `acme/r${number}`,
    targets: spec.targets.map((each) => target(each.member, each.weight)),
    fallbacks: spec.fallbacks.map((index) => target(index)),
    choose,
    sticky,
    retry: { attempts, on: new Set(on) },
    defaults,
    timeouts: {},
    strict,
    at: NOWHERE,
  }
}

function toYaml(configs: readonly RouteConfig[]): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    configs.map(({ targets, fallbacks }, number) => [
      `r${number}`,
      { targets: targets.map(({ model, weight }) => ({ model, weight })), fallbacks: fallbacks.map(({ model }) => model) },
    ]),
  )
}
