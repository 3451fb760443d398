import { type Call, matchesGlob, type UpstreamRefusal } from 'unified-model-gateway/plugin'

/** By which API of its upstream a chat completion is served: `auto` decides by the model and what the call asks for. */
export type ChatApi = 'auto' | 'chat' | 'responses'

/** What a model does not serve at the endpoint of chat completions: anything, function tools, those beside reasoning, or with a named effort. */
type Refusing = 'all' | 'tools' | 'tools-with-reasoning' | 'tools-with-effort'

/**
 * What OpenAI's models refuse at /v1/chat/completions, by globs of their names; the first match counts. Sources: openai-node 7.57, `ResponsesModel`
 * without `ChatModel`; developers' reports of 2026: pipecat 4043 and crush 2913 (5.4, 5.5), litellm 34569 (5.6), bolna 1019 and genkit 6303
 * (6-astra), onyx 15008 (6-sol, 6-luna).
 */
const OPENAI: Readonly<Record<string, Refusing>> = {
  'o1-pro*': 'all',
  'o3-pro*': 'all',
  'o*-deep-research*': 'all',
  'computer-use-preview*': 'all',
  'gpt-*-codex*': 'all',
  'gpt-*-pro*': 'all',
  'gpt-*-cyber*': 'all',
  'gpt-*rosalind*': 'all',
  'gpt-daybreak-*': 'all',
  'gpt-5.4*': 'tools-with-effort',
  'gpt-5.5*': 'tools-with-effort',
  'gpt-5.6*': 'tools-with-reasoning',
  'gpt-6-astra*': 'tools',
  'gpt-6.1-*': 'tools',
  'gpt-6*': 'tools-with-reasoning',
}

/** The other members that models refuse there, though they are served by the Responses API: bolna 1019, genkit-dart 423, live probes of September 2026. */
const REFUSED_MEMBERS: Readonly<Record<string, readonly string[]>> = { 'gpt-6*': ['max_tokens', 'stop'] }

/** The models that refuse sampling parameters at both APIs while they reason, with which the gateway leaves them out, and those whose highest effort is for the Responses API alone. */
const REFUSES_SAMPLING = ['gpt-6*']
const MAX_BY_RESPONSES = ['gpt-5.6*', 'gpt-6*']

/** Sampling parameters: 1 is the only value of them that is not refused. */
export const SAMPLING = ['temperature', 'top_p'] as const

/** Efforts from the least. */
const ORDER = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max']

/**
 * The efforts that models take at /v1/responses, by globs of their names; the first match counts, and other models may take any. From the errors of the
 * API, "Unsupported value: 'none' is not supported with the 'gpt-6.1-sol' model. Supported values are …", in reports on GitHub: codex 6647 (codex),
 * cherry-studio 10430 (gpt-5-codex), memory-lancedb-pro 201 (5.1), vscode 301045 (5), one-api 266 (chat), models.dev 331 (5-pro), CLIProxyAPI 2916
 * (5.4-pro); for gpt-5.1-codex-max and later chatwise-releases 1276; for 5.6 and GPT-6 live probes of September 2026.
 */
const EFFORTS: Readonly<Record<string, string>> = {
  'gpt-*-chat*': 'medium',
  'gpt-5-pro*': 'high',
  'gpt-5.*-pro*': 'medium high xhigh',
  'gpt-5-codex*': 'low medium high',
  'gpt-5.1-codex-max*': 'low medium high xhigh',
  'gpt-5.1-codex*': 'low medium high',
  'gpt-5.*-codex*': 'low medium high xhigh',
  'gpt-5.1*': 'none low medium high',
  'gpt-5.6*': 'none low medium high xhigh max',
  'gpt-5.*': 'none low medium high xhigh',
  'gpt-5*': 'minimal low medium high',
  'gpt-6-astra*': 'low medium high xhigh max',
  'gpt-6.1-*': 'low medium high xhigh max',
  'gpt-6*': 'none low medium high xhigh max',
  'o1*': 'low medium high',
  'o3*': 'low medium high',
  'o4*': 'low medium high',
}

/** An effort as the model takes it: the nearest one below, else the lowest with which it reasons. */
export function effortFor(model: string, effort: string): string {
  const taken = firstMatch(EFFORTS, model)?.split(' ')
  if (taken === undefined || taken.includes(effort) || !ORDER.includes(effort)) return effort
  const levels = taken.filter((level) => level !== 'none')
  return levels.findLast((level) => ORDER.indexOf(level) < ORDER.indexOf(effort)) ?? levels[0]!
}

/** "Please use /v1/responses instead", "This model is only supported in v1/responses": recorded in 2026. */
const ADVICE = /\bv1\/responses\b/

/** Decides by which API a chat completion is served, and learns from refusals: models change their minds without a notice. */
export class ApiChoice {
  readonly #apis: Readonly<Record<string, ChatApi>>
  readonly #learned = new Map<string, Refusing>()

  /** `apis`: the operator's choice, by globs of the upstream's names; the first match counts, and `auto` is for the others. */
  constructor(apis: Readonly<Record<string, ChatApi>>) {
    this.#apis = apis
  }

  /** Whether a call needs the Responses API. `refused`: how the endpoint of chat completions has just refused it. */
  needsResponses(call: Call, model: string, refused?: UpstreamRefusal): boolean {
    const api = firstMatch(this.#apis, model) ?? 'auto'
    if (api !== 'auto') return api === 'responses'
    if (refused !== undefined) this.#learn(model, refused)
    const refusing = this.#refusingOf(model)
    if (refusing === undefined) return false
    if (refusing === 'all') return true
    const effort = call.member('reasoning_effort')
    if (isReasoning(refusing, effort) && (hasTools(call) || (isOneOf(REFUSES_SAMPLING, model) && setsSampling(call)))) return true
    if (effort === 'max' && isOneOf(MAX_BY_RESPONSES, model)) return true
    return firstMatch(REFUSED_MEMBERS, model)?.some((name) => asksFor(call, name)) === true
  }

  /** Whether a model reasons about a call with this effort: then OpenAI refuses sampling parameters. False if nothing is known of it. */
  reasons(model: string, effort: unknown): boolean {
    const refusing = this.#refusingOf(model)
    return refusing !== undefined && isReasoning(refusing, effort)
  }

  #refusingOf(model: string): Refusing | undefined {
    return this.#learned.get(model) ?? firstMatch(OPENAI, model)
  }

  #learn(model: string, { status, message = '', param }: UpstreamRefusal): void {
    if (!ADVICE.test(message)) return
    if (status === 404 && param === 'model') this.#learned.set(model, 'all')
    else if (status === 400) this.#learned.set(model, 'tools')
  }
}

/** Whether a model reasons: with an effort of `none` most do not. */
function isReasoning(refusing: Refusing, effort: unknown): boolean {
  if (refusing === 'all' || refusing === 'tools') return true
  return refusing === 'tools-with-reasoning' ? effort !== 'none' : effort != null && effort !== 'none'
}

/** Also in the way before tools. */
const hasTools = (call: Call): boolean => asksFor(call, 'tools') || asksFor(call, 'functions')

const setsSampling = (call: Call): boolean => SAMPLING.some((name) => asksFor(call, name) && call.member(name) !== 1)

/** Whether a call has a member that is not empty. */
function asksFor(call: Call, name: string): boolean {
  if (!call.keys.includes(name)) return false
  const value = call.member(name)
  return value != null && !(Array.isArray(value) && value.length === 0)
}

const isOneOf = (globs: readonly string[], model: string): boolean => globs.some((glob) => matchesGlob(glob, model))

function firstMatch<Value>(table: Readonly<Record<string, Value>>, model: string): Value | undefined {
  for (const glob in table) if (matchesGlob(glob, model)) return table[glob]
  return undefined
}
