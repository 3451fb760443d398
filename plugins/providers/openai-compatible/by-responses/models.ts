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

/**
 * Efforts that models refuse, by globs of their names; the first match counts. "Unsupported value: 'none' is not supported with the 'gpt-6.1-sol' model"
 * (recorded in September 2026), although the error for tools at /v1/chat/completions advises it.
 */
const REFUSED_EFFORTS: Readonly<Record<string, readonly string[]>> = {
  'gpt-6-astra*': ['none', 'minimal'],
  'gpt-6.1-*': ['none', 'minimal'],
  'gpt-6*': ['minimal'],
  'gpt-5.*': ['minimal'],
}

/** An effort as the model takes it: the lowest one in place of one that it refuses. */
export const effortFor = (model: string, effort: string): string =>
  firstMatch(REFUSED_EFFORTS, model)?.includes(effort) ? 'low' : effort

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
    const refusing = this.#learned.get(model) ?? firstMatch(OPENAI, model)
    return (
      refusing !== undefined && (refusing === 'all' || (hasTools(call) && isRefused(refusing, call.member('reasoning_effort'))))
    )
  }

  #learn(model: string, { status, message = '', param }: UpstreamRefusal): void {
    if (!ADVICE.test(message)) return
    if (status === 404 && param === 'model') this.#learned.set(model, 'all')
    else if (status === 400) this.#learned.set(model, 'tools')
  }
}

/** An effort of `none` means that the model does not reason. */
function isRefused(refusing: Refusing, effort: unknown): boolean {
  if (refusing === 'tools') return true
  return refusing === 'tools-with-reasoning' ? effort !== 'none' : effort != null && effort !== 'none'
}

function hasTools(call: Call): boolean {
  if (!call.keys.includes('tools')) return false
  const tools = call.member('tools')
  return Array.isArray(tools) && tools.length > 0
}

function firstMatch<Value>(table: Readonly<Record<string, Value>>, model: string): Value | undefined {
  for (const glob in table) if (matchesGlob(glob, model)) return table[glob]
  return undefined
}
