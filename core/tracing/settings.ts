/** Which calls are traced. */
export interface Sampling {
  /** The share of the calls that begin a trace, from 0 to 1. */
  readonly ratio: number
  /** Whether a call that continues a client's trace is traced if and only if the client has sampled it. */
  readonly isParentBased: boolean
}

/** Where the spans of calls go. */
export interface TracingSettings {
  /** The URL that takes spans by OTLP. */
  readonly url: string
  readonly sampling: Sampling
  /** How long spans wait for others, in milliseconds. */
  readonly delayMs: number
}

/** A collector on this machine: OpenTelemetry's default. */
const DEFAULT_ENDPOINT = 'http://localhost:4318'
const DEFAULT_DELAY_MS = 5_000

/** The samplers of OpenTelemetry's `OTEL_TRACES_SAMPLER`; `arg`: the ratio is in `OTEL_TRACES_SAMPLER_ARG`. */
const SAMPLERS: Readonly<Record<string, { readonly ratio: number | 'arg'; readonly isParentBased: boolean }>> = {
  always_on: { ratio: 1, isParentBased: false },
  always_off: { ratio: 0, isParentBased: false },
  traceidratio: { ratio: 'arg', isParentBased: false },
  parentbased_always_on: { ratio: 1, isParentBased: true },
  parentbased_always_off: { ratio: 0, isParentBased: true },
  parentbased_traceidratio: { ratio: 'arg', isParentBased: true },
}

/**
 * The settings of tracing, by OpenTelemetry's variables; undefined if it is off, as it is without any of them. The exporter itself reads
 * those of its requests, such as `OTEL_EXPORTER_OTLP_HEADERS`. Throws an Error that names a variable with an unknown value.
 */
export function tracingSettings(env: NodeJS.ProcessEnv): TracingSettings | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  const exporter = chosen(env, 'OTEL_TRACES_EXPORTER', ['otlp', 'none'])
  const url = urlOf(env) ?? (exporter === 'otlp' ? tracesUrl(DEFAULT_ENDPOINT) : undefined)
  if (url === undefined || exporter === 'none') return undefined
  chosen(env, 'OTEL_EXPORTER_OTLP_TRACES_PROTOCOL', PROTOCOLS) ?? chosen(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS)
  const delayMs = numberOf(env, 'OTEL_BSP_SCHEDULE_DELAY', Number.MAX_SAFE_INTEGER) ?? DEFAULT_DELAY_MS
  return { url, sampling: samplingOf(env), delayMs }
}

const PROTOCOLS = ['http/protobuf']

/** An empty variable counts as unset: OpenTelemetry's specification says so. */
const variable = (env: NodeJS.ProcessEnv, name: string): string | undefined => env[name]?.trim() || undefined

function chosen(env: NodeJS.ProcessEnv, name: string, choices: readonly string[]): string | undefined {
  const value = variable(env, name)
  if (value === undefined || choices.includes(value)) return value
  throw new Error(`${name}=${value} is not supported: write ${choices.join(', ').replace(/, ([^,]+)$/, ' or $1')}.`)
}

/** The endpoint of traces is used as it is; the path of traces is added to that of all signals. */
function urlOf(env: NodeJS.ProcessEnv): string | undefined {
  const own = endpointOf(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT')
  if (own !== undefined) return own
  const all = endpointOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT')
  return all && tracesUrl(all)
}

const tracesUrl = (endpoint: string): string => `${endpoint.replace(/\/$/, '')}/v1/traces`

function endpointOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variable(env, name)
  if (value === undefined || (/^https?:\/\//.test(value) && URL.canParse(value))) return value
  throw new Error(`${name}=${value} is not a URL: write one such as ${DEFAULT_ENDPOINT}.`)
}

function samplingOf(env: NodeJS.ProcessEnv): Sampling {
  const name = chosen(env, 'OTEL_TRACES_SAMPLER', Object.keys(SAMPLERS)) ?? 'parentbased_always_on'
  const { ratio, isParentBased } = SAMPLERS[name]!
  return { ratio: ratio === 'arg' ? (numberOf(env, 'OTEL_TRACES_SAMPLER_ARG', 1) ?? 1) : ratio, isParentBased }
}

function numberOf(env: NodeJS.ProcessEnv, name: string, max: number): number | undefined {
  const value = variable(env, name)
  if (value === undefined) return undefined
  const number = Number(value)
  if (number >= 0 && number <= max) return number
  throw new Error(`${name}=${value} is not valid: write a number from 0${max === 1 ? ' to 1' : ''}.`)
}
