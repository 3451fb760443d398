import { withTimeout } from '../../async/timeout.ts'
import type { Generation } from '../../call/generation.ts'
import type { Config } from '../../config/config.ts'
import { namedModels } from '../../config/named-models.ts'
import { addFrames } from '../../config/report.ts'
import { noticesOfDefaults } from '../../gateway/check-defaults.ts'
import { noticesOfPrices } from '../../limits/prices/notices.ts'
import type { NamedProvider } from '../../routing/table.ts'
import { type Model, type Provider, UpstreamError } from '../../sdk/api.ts'
import { ConfigError, type Diagnostic, UnreadableConfig } from '../../text/diagnostic.ts'
import { matchesGlob } from '../../text/glob.ts'
import { didYouMean } from '../../text/suggestions.ts'
import { clean } from '../../upstream/failures.ts'
import { withGeneration } from '../generation.ts'
import type { CommandIo, JsonOption } from '../output.ts'
import { count, type Format, printReport, reportOf, type ValidationReport } from '../validation-report.ts'

/** The options of `umg validate`. */
export interface ValidateOptions extends JsonOption {
  /** Whether errors and notices are printed as annotations of GitHub Actions. */
  readonly github?: boolean
  /** Whether the upstreams are checked too. */
  readonly online?: boolean
}

/**
 * `umg validate`: prints the errors of routes.yaml, or a summary of a valid one and notices for its author. Resolves to the exit code: 0
 * if it is valid, 1 if it is not, 2 if it cannot be read.
 */
export async function validate(file: string, { json, github, online }: ValidateOptions, io: CommandIo): Promise<0 | 1 | 2> {
  const format: Format = json ? 'json' : github ? 'github' : 'pretty'
  try {
    const report = await withGeneration(file, io.env, (generation) =>
      online ? reportOnline(generation) : { errors: [], notices: noticesOf(generation), summary: summarize(generation.config) },
    )
    return printReport({ file, ...report }, format, io)
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error
    const code = printReport(reportOf(error, file), format, io)
    return error instanceof UnreadableConfig ? 2 : code
  }
}

const noticesOf = ({ config, prices }: Generation): readonly string[] => [
  ...config.notices,
  ...noticesOfDefaults(config),
  ...noticesOfPrices(config, prices),
]

/** `3 namespaces, 1 curated model, 2 links` */
function summarize({ namespaces, curated, chain }: Config): string {
  const models = [...curated.values()].reduce((sum, { routes }) => sum + routes.size, 0)
  return [
    count(namespaces.size + curated.size, 'namespace'),
    ...(models === 0 ? [] : [count(models, 'curated model')]),
    count(chain.length, 'link'),
  ].join(', ')
}

/** The time limit of each request to an upstream. */
const REQUEST_TIMEOUT_MS = 15_000

/** The result of checking upstreams. */
interface UpstreamChecks {
  /** The number of upstreams that were checked. */
  readonly checked: number
  /** Upstreams that cannot be reached or refuse the credential, at the positions of their namespaces. */
  readonly errors: readonly Diagnostic[]
  /** Models in routes.yaml that their upstream does not list, and upstreams that cannot be checked. */
  readonly notices: readonly string[]
}

/** Checks all upstreams, except those of dormant namespaces. */
async function reportOnline(generation: Generation): Promise<Omit<ValidationReport, 'file'>> {
  const { config, table } = generation
  const checks = await Promise.all(
    [...table.namespaces.values()].flatMap(({ name, upstream }) =>
      upstream === undefined ? [] : checkUpstream(name, upstream, config),
    ),
  )
  const checked = checks.reduce((sum, each) => sum + each.checked, 0)
  const errors = checks.flatMap((each) => each.errors)
  return {
    errors: addFrames(errors, config.text),
    notices: [...noticesOf(generation), ...checks.flatMap(({ notices }) => notices)],
    summary: `${summarize(config)}; ${count(checked, 'upstream')} checked`,
  }
}

/** Checks an upstream, with each of its credentials if it has several. */
async function checkUpstream(name: string, { provider, state }: NamedProvider, config: Config): Promise<UpstreamChecks> {
  if (state.credentials === undefined) return checkProvider({ name, path: `namespaces.${name}`, provider }, config)
  const checks = await Promise.all(
    state.credentials.all.map((each) =>
      checkProvider({ name, path: `namespaces.${name}.credentials.${each.name}`, provider: each.provider }, config),
    ),
  )
  // All of them see the same models, as a rule.
  const notices = new Set(checks.flatMap((each) => each.notices))
  return { checked: checks[0]!.checked, errors: checks.flatMap(({ errors }) => errors), notices: [...notices] }
}

interface CheckedProvider {
  /** Of its namespace. */
  readonly name: string
  /** Of its credential in routes.yaml. */
  readonly path: string
  readonly provider: Provider
}

async function checkProvider({ name, path, provider }: CheckedProvider, config: Config): Promise<UpstreamChecks> {
  if (provider.check === undefined && provider.models === undefined)
    return { checked: 0, errors: [], notices: [`the upstream of "${name}" was not checked: its provider has no check`] }
  try {
    await withinTimeout((signal) => provider.check?.(signal))
    const models = provider.models && (await withinTimeout((signal) => provider.models!(signal)))
    return { checked: 1, errors: [], notices: models === undefined ? [] : findUnlisted(name, models, config) }
  } catch (error) {
    const message = `${path}: ${describe(error)}`
    return { checked: 1, errors: [{ ...config.namespaces.get(name)!.at, message, frame: '' }], notices: [] }
  }
}

/** The error, and the upstream's message if it sent one. */
function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  const refusal = [error, error.cause].find((each) => each instanceof UpstreamError)
  const summary = error === refusal ? `status ${refusal.refusal.status}` : error.message
  // Cleaned, because a plugin may throw the upstream's message unchanged.
  const message = clean(refusal?.refusal.message ?? '')
  return message ? `${summary}. The upstream said: "${message}"` : summary
}

/** Limits the time of a plugin's function, which may ignore the signal. */
const withinTimeout = <Result>(run: (signal: AbortSignal) => Result | Promise<Result>): Promise<Result> =>
  withTimeout(REQUEST_TIMEOUT_MS, Promise.resolve(run(AbortSignal.timeout(REQUEST_TIMEOUT_MS))))

/** Finds the models that routes.yaml names and the upstream of the namespace does not list. */
function findUnlisted(namespace: string, models: readonly Model[], config: Config): readonly string[] {
  const listed = models.map(({ id }) => id)
  const globs = (config.namespaces.get(namespace)?.models ?? []).filter((glob) => glob.includes('*'))
  const vain = globs
    .filter((glob) => !listed.some((model) => matchesGlob(glob, model)))
    .map((glob) => `"${namespace}" lists no model that matches ${config.text.includes(glob) ? `"${glob}"` : 'a reference'}`)
  const unlisted = [...namedModels(config)]
    .filter((id) => id.startsWith(`${namespace}/`))
    .map((id) => id.slice(namespace.length + 1))
    .filter((model) => !listed.includes(model))
    .map((model) => {
      // A name that is not in the text is the value of a reference, which is secret.
      const name = config.text.includes(model) ? `${namespace}/${model}${didYouMean(model, listed)}` : 'that a reference names'
      return `"${namespace}" does not list the model ${name}`
    })
  return [...vain, ...unlisted]
}
