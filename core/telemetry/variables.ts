/** What is exported by OTLP: each has variables and a path of its own. */
export type Signal = 'traces' | 'metrics'

/** The longest delay of a timer, in milliseconds. */
export const MAX_DELAY_MS = 2 ** 31 - 1

/** A collector on this machine: OpenTelemetry's default. */
const DEFAULT_ENDPOINT = 'http://localhost:4318'
const PROTOCOLS = ['http/protobuf']

/**
 * The URL that takes a signal, by OpenTelemetry's variables; undefined if no variable enables its export. The exporter
 * itself reads those of its requests, such as `OTEL_EXPORTER_OTLP_HEADERS`. Throws an Error that names a variable with an unknown value.
 */
export function urlOf(env: NodeJS.ProcessEnv, signal: Signal): string | undefined {
  if (env.OTEL_SDK_DISABLED?.toLowerCase() === 'true') return undefined
  const name = signal.toUpperCase()
  const exporter = chosen(env, `OTEL_${name}_EXPORTER`, ['otlp', 'none'])
  // The endpoint of a signal is used as it is; the path of the signal is added to that of all signals.
  const all = endpointOf(env, 'OTEL_EXPORTER_OTLP_ENDPOINT') ?? (exporter === 'otlp' ? DEFAULT_ENDPOINT : undefined)
  const url = endpointOf(env, `OTEL_EXPORTER_OTLP_${name}_ENDPOINT`) ?? (all && `${all.replace(/\/$/, '')}/v1/${signal}`)
  if (url === undefined || exporter === 'none') return undefined
  chosen(env, `OTEL_EXPORTER_OTLP_${name}_PROTOCOL`, PROTOCOLS) ?? chosen(env, 'OTEL_EXPORTER_OTLP_PROTOCOL', PROTOCOLS)
  return url
}

/** The value of a variable that has one of these values, in any case of its letters. Throws an Error for another one. */
export function chosen(env: NodeJS.ProcessEnv, name: string, choices: readonly string[]): string | undefined {
  const value = variable(env, name)
  const choice = value?.toLowerCase()
  if (choice === undefined || choices.includes(choice)) return choice
  throw new Error(`${name}=${value} is not supported: write ${choices.join(', ').replace(/, ([^,]+)$/, ' or $1')}.`)
}

/** The value of a variable that is a number of this range. Throws an Error for another one. */
export function numberOf(
  env: NodeJS.ProcessEnv,
  name: string,
  { min = 0, max }: { readonly min?: number; readonly max: number },
): number | undefined {
  const value = variable(env, name)
  if (value === undefined) return undefined
  const number = Number(value)
  if (number >= min && number <= max) return number
  throw new Error(`${name}=${value} is not valid: write a number from ${min} to ${max}.`)
}

/** An empty variable counts as unset: OpenTelemetry's specification says so. */
const variable = (env: NodeJS.ProcessEnv, name: string): string | undefined => env[name]?.trim() || undefined

function endpointOf(env: NodeJS.ProcessEnv, name: string): string | undefined {
  const value = variable(env, name)
  if (value === undefined || (/^https?:\/\//.test(value) && URL.canParse(value))) return value
  throw new Error(`${name}=${value} is not a URL: write one such as ${DEFAULT_ENDPOINT}.`)
}
