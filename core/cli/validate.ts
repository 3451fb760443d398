import { withTimeout } from '../async/timeout.ts'
import type { Config } from '../config/config.ts'
import { addFrames } from '../config/report.ts'
import type { Generation } from '../http/generation.ts'
import { type Model, type Provider, UpstreamError } from '../sdk/api.ts'
import { ConfigError, type Diagnostic, UnreadableConfig } from '../text/diagnostic.ts'
import { didYouMean } from '../text/suggestions.ts'
import { clean } from '../upstream/failures.ts'
import { count, type Findings, type Format, printFindings } from './findings.ts'
import type { CommandIo } from './io.ts'
import { tryOut } from './try-out.ts'

/** What `umg validate` takes. */
export interface ValidateOptions {
  readonly format: Format
  /** Whether the upstreams are asked too. */
  readonly online?: boolean
}

/**
 * `umg validate`: says that a routes.yaml is right, with what else its author should know, or all that is wrong with it. Returns
 * the exit code: 0 where it is right, 1 where it is not, 2 where there is nothing to check.
 */
export async function validate(file: string, { format, online }: ValidateOptions, io: CommandIo): Promise<0 | 1 | 2> {
  try {
    const found = await tryOut(file, io.env, (generation) =>
      online ? ask(generation) : { errors: [], notices: generation.config.notices, summary: summary(generation.config) },
    )
    return printFindings({ file, ...found }, format, io)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const code = printFindings(toFindings(error, file), format, io)
    return error instanceof UnreadableConfig ? 2 : code
  }
}

/** Prints all that is wrong with a routes.yaml, for people. Returns the exit code, 1. */
export function printConfigError(error: ConfigError, file: string, io: CommandIo): number {
  return printFindings(toFindings(error, file), 'pretty', io)
}

const toFindings = ({ diagnostics }: ConfigError, file: string): Findings => ({
  file,
  errors: diagnostics,
  notices: [],
  summary: '',
})

async function ask(generation: Generation): Promise<Omit<Findings, 'file'>> {
  const { asked, errors, notices } = await askUpstreams(generation)
  const { config } = generation
  return {
    errors: addFrames(errors, config.text),
    notices: [...config.notices, ...notices],
    summary: `${summary(config)}; ${count(asked, 'upstream')} asked`,
  }
}

function summary({ namespaces, curated, chain }: Config): string {
  const models = [...curated.values()].reduce((sum, { routes }) => sum + routes.size, 0)
  return [
    count(namespaces.size + curated.size, 'namespace'),
    ...(models === 0 ? [] : [count(models, 'curated model')]),
    count(chain.length, 'link'),
  ].join(', ')
}

/** How long an upstream may take to answer, in milliseconds. */
const PATIENCE_MS = 15_000

/** What the upstreams of a table say of it. */
export interface Answers {
  /** How many were asked. */
  readonly asked: number
  /** Upstreams that cannot be reached, or refuse our credential: each at its namespace. */
  readonly errors: readonly Diagnostic[]
  /** Models that the table names and the upstream does not list, and upstreams that nobody can ask. */
  readonly notices: readonly string[]
}

/** Asks every upstream of a table whether it can be used; those that are left out are not asked. */
export async function askUpstreams({ config, table }: Generation): Promise<Answers> {
  const answers = await Promise.all(
    [...table.namespaces.values()].flatMap(({ name, upstream }) =>
      upstream === undefined ? [] : askProvider(name, upstream.provider, config),
    ),
  )
  return {
    asked: answers.reduce((sum, { asked }) => sum + asked, 0),
    errors: answers.flatMap(({ errors }) => errors),
    notices: answers.flatMap(({ notices }) => notices),
  }
}

async function askProvider(name: string, provider: Provider, config: Config): Promise<Answers> {
  if (provider.check === undefined && provider.models === undefined)
    return { asked: 0, errors: [], notices: [`"${name}" was not asked: its provider has no way to`] }
  try {
    await inTime((signal) => provider.check?.(signal))
    const models = provider.models && (await inTime((signal) => provider.models!(signal)))
    return { asked: 1, errors: [], notices: models === undefined ? [] : unlisted(name, models, config) }
  } catch (error) {
    const message = `namespaces.${name}: ${tell(error)}`
    return { asked: 1, errors: [{ ...config.namespaces.get(name)!.at, message, frame: '' }], notices: [] }
  }
}

/** What is wrong, and what the upstream said of it. */
function tell(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const refused = [error, error.cause].find((one) => one instanceof UpstreamError)
  const what = error === refused ? `status ${refused.refusal.status}` : error.message
  // A plugin may have thrown the words as they came.
  const said = clean(refused?.refusal.message ?? '')
  return said ? `${what}. The upstream said: "${said}"` : what
}

/** A provider may well ignore the signal. */
const inTime = <Result>(work: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> =>
  withTimeout(PATIENCE_MS, Promise.resolve(work(AbortSignal.timeout(PATIENCE_MS))))

function unlisted(namespace: string, models: readonly Model[], config: Config): readonly string[] {
  const listed = models.map(({ id }) => id)
  return [...namedModels(config)]
    .filter((id) => id.startsWith(`${namespace}/`))
    .map((id) => id.slice(namespace.length + 1))
    .filter((model) => !listed.includes(model))
    .map((model) => {
      // What a reference gave is a secret.
      const said = config.text.includes(model) ? `${namespace}/${model}${didYouMean(model, listed)}` : 'that a reference gives'
      return `"${namespace}" does not list the model ${said}`
    })
}

/** The ids of the models that the table names, other than by globs. */
function namedModels({ namespaces, curated, aliases }: Config): ReadonlySet<string> {
  const allowed = [...namespaces.values()].flatMap(({ name, models = [] }) => models.map((model) => `${name}/${model}`))
  const routes = [...curated.values()].flatMap((namespace) => [...namespace.routes.values()])
  const targets = routes.flatMap((route) => [...route.targets, ...route.fallbacks].map(({ model }) => model))
  return new Set([...allowed, ...targets, ...aliases.values()].filter((id) => !id.includes('*')))
}
