import { chosen, MAX_DELAY_MS, numberOf, urlOf } from './variables.ts'

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
  /** How many characters of the messages of a request, and of its reply, spans have. Absent: none. */
  readonly contentLimit?: number
}

const DEFAULT_DELAY_MS = 5_000
const DEFAULT_CONTENT_LIMIT = 8_192
const MAX_CONTENT_LIMIT = 65_536

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
 * The settings of tracing, by OpenTelemetry's variables; undefined if it is off, as it is without any of them. Throws an Error that names a
 * variable with an unknown value.
 */
export function tracingSettings(env: NodeJS.ProcessEnv): TracingSettings | undefined {
  const url = urlOf(env, 'traces')
  if (url === undefined) return undefined
  const delayMs = numberOf(env, 'OTEL_BSP_SCHEDULE_DELAY', { max: MAX_DELAY_MS }) ?? DEFAULT_DELAY_MS
  const contentLimit = contentLimitOf(env)
  return { url, sampling: samplingOf(env), delayMs, ...(contentLimit !== undefined && { contentLimit }) }
}

/** `true` and `false` are the values of older instrumentations. Without logs by OTLP there is no other place than spans. */
function contentLimitOf(env: NodeJS.ProcessEnv): number | undefined {
  const limit = numberOf(env, 'OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT', { max: MAX_CONTENT_LIMIT }) ?? DEFAULT_CONTENT_LIMIT
  const choices = ['span_only', 'true', 'no_content', 'false']
  const choice = chosen(env, 'OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT', choices)
  return choice === 'span_only' || choice === 'true' ? limit : undefined
}

function samplingOf(env: NodeJS.ProcessEnv): Sampling {
  const name = chosen(env, 'OTEL_TRACES_SAMPLER', Object.keys(SAMPLERS)) ?? 'parentbased_always_on'
  const { ratio, isParentBased } = SAMPLERS[name]!
  return { ratio: ratio === 'arg' ? (numberOf(env, 'OTEL_TRACES_SAMPLER_ARG', { max: 1 }) ?? 1) : ratio, isParentBased }
}
