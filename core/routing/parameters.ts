import { GatewayError } from '../errors.ts'
import type { Call, ChatRequest, ParameterFate, ParameterTable, Provider, RouteTrace } from '../plugin/api.ts'

/** Members that are not parameters of the model: core and every provider deal with them. */
const STRUCTURE = new Set(['model', 'messages', 'input', 'stream', 'stream_options', 'encoding_format'])

/** Values that ask for nothing: a parameter that has one counts as absent. */
const NEUTRAL: Readonly<Record<string, unknown>> = {
  n: 1,
  logprobs: false,
  top_logprobs: 0,
  store: false,
  frequency_penalty: 0,
  presence_penalty: 0,
  parallel_tool_calls: true,
  // The SDK's tool loop always sends it.
  tool_choice: 'auto',
  service_tier: 'auto',
}

const asksForNothing = (name: string, value: unknown): boolean =>
  value == null ||
  value === NEUTRAL[name] ||
  (name === 'modalities' && Array.isArray(value) && value.every((entry) => entry === 'text')) ||
  (name === 'logit_bias' && Object.keys(value as object).length === 0) ||
  (name === 'response_format' && (value as { readonly type?: unknown }).type === 'text')

/** The table of a provider that holds for a model. */
export function tableFor({ parameters }: Pick<Provider, 'parameters'>, model: string): ParameterTable {
  return typeof parameters === 'function' ? parameters(model) : parameters
}

/**
 * Which parameters of a request a provider leaves out. Throws 400 `unsupported_parameter` for the first that it cannot leave out
 * without changing the meaning.
 */
export function droppedParameters(body: Readonly<ChatRequest>, table: ParameterTable): string[] {
  if (table === 'verbatim') return []
  const dropped: string[] = []
  for (const [name, value] of Object.entries(body)) {
    if (!isParameter(name, value)) continue
    const entry = fateOf(name, table)
    if (entry.fate === 'refused') {
      throw new GatewayError('unsupported_parameter', {
        param: name,
        values: { detail: entry.why === undefined ? '' : ` ${entry.why}` },
      })
    }
    if (entry.fate === 'dropped') dropped.push(name)
  }
  return dropped
}

/** What becomes of each parameter of a request. */
export function parameterFates(call: Pick<Call, 'body'>, table: ParameterTable): RouteTrace['parameters'] {
  if (table === 'verbatim') return table
  const asked = Object.entries(call.body).filter(([name, value]) => isParameter(name, value))
  return Object.fromEntries(asked.map(([name]) => [name, fateOf(name, table)]))
}

const isParameter = (name: string, value: unknown): boolean => !STRUCTURE.has(name) && !asksForNothing(name, value)

const fateOf = (name: string, table: Exclude<ParameterTable, 'verbatim'>): ParameterFate =>
  Object.hasOwn(table, name) ? table[name]! : DROPPED

const DROPPED: ParameterFate = { fate: 'dropped' }
