import {
  type FactsByModel,
  type GetPage,
  isRecord,
  type Model,
  type ModelCapabilities,
  modelFacts,
  type Paging,
  readPages,
  type Static,
  Type,
} from 'unified-model-gateway/plugin'

import shipped from './models.json' with { type: 'json' }

/**
 * Facts about models: what the Messages API takes depends on the model's generation. The facts are in models.json, and a namespace's
 * `facts` come before them: the first row that matches a model and has a fact decides it.
 *
 * Sources: platform.claude.com, "Models overview", "Troubleshooting thinking" (the table of modes), "Effort" and the migration
 * guides of Opus 5.5, Sonnet 5.5 and Haiku 5.5; "Extended thinking" for the models that take a budget; "Migration guide" for prefill, which Claude 4.6 and
 * later refuse (read 2026-11-26); `getModelCapabilities` of vercel/ai (ed857f5).
 */
export const Facts = Type.Object({
  maxTokens: Type.Integer({
    minimum: 1,
    description: 'The most tokens of one reply: sent if neither the request nor maxTokens says.',
  }),
  sampling: Type.Boolean({ description: 'Whether it takes temperature and top_p.' }),
  structuredOutputs: Type.Boolean({ description: 'Whether it writes JSON by a schema, and takes strict tools.' }),
  forcedTools: Type.Boolean({ description: 'Whether it can be required to use a tool.' }),
  thinking: Type.Union([Type.Literal('none'), Type.Literal('budget'), Type.Literal('adaptive')], {
    description: 'How a request says how much to think: not at all, by tokens, or by an effort.',
  }),
  alwaysThinks: Type.Boolean({ description: 'Whether it thinks without a reasoning_effort. Of `adaptive` models only.' }),
  thinkingOff: Type.Union([Type.Literal('disabled'), Type.Literal('between_tools'), Type.Literal('never')], {
    description: 'The `thinking.type` that turns thinking off, or never. Of `adaptive` models only.',
  }),
  budgets: Type.Boolean({ description: 'Whether it takes a number of tokens to think with too. Of `adaptive` models only.' }),
  xhigh: Type.Boolean({ description: 'Whether it knows the effort `xhigh`.' }),
  prefill: Type.Boolean({
    description: 'Whether it takes a conversation that ends with the assistant, whose message it continues if it does not think.',
  }),
})

/** The facts about one model. */
export type ModelFacts = Static<typeof Facts>

/** A namespace's `facts`: rows by globs of model names. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** A model without a row, such as another server's that speaks the Messages API: it is sent nothing special. */
const UNKNOWN: ModelFacts = {
  maxTokens: 4096,
  sampling: true,
  structuredOutputs: false,
  forcedTools: true,
  thinking: 'none',
  alwaysThinks: false,
  thinkingOff: 'disabled',
  budgets: false,
  xhigh: false,
  prefill: true,
}

/** The facts about a model. `own`: the operator's rows, which come before models.json. */
export function factsOf(model: string, own: FactsTable = {}): ModelFacts {
  return modelFacts(model, [own, shipped as FactsTable], UNKNOWN)
}

/** The most models whose facts are remembered: clients may name any number of them. */
const MAX_KNOWN = 200

/** `factsOf` that remembers: to look through all rows takes as long as to translate a short call. */
export function rememberedFacts(own: FactsTable): (model: string) => ModelFacts {
  const known = new Map<string, ModelFacts>()
  return (model) => {
    const facts = known.get(model) ?? factsOf(model, own)
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(model, facts)
    return facts
  }
}

/** "List Models", platform.claude.com. */
const PAGING: Paging = {
  entries: 'data',
  id: 'id',
  query: { limit: '1000' },
  cursor: 'after_id',
  next: ({ has_more, last_id }) => (has_more === true ? last_id : undefined),
}

/** The models that the key may use. `get`: GETs a page of `/v1/models`. Throws if a request fails. */
export async function listModels(get: GetPage): Promise<readonly Model[]> {
  return (await readPages(get, PAGING)).flatMap(toModel)
}

function toModel({ id, created_at, ...rest }: Readonly<Record<string, unknown>>): Model[] {
  if (typeof id !== 'string') return []
  const { display_name: name, max_input_tokens: length, max_tokens: most, capabilities } = rest
  const created = Math.floor(Date.parse(String(created_at)) / 1000)
  return [
    {
      id,
      owned_by: 'anthropic',
      ...(created > 0 && { created }),
      ...(typeof length === 'number' && { context_length: length }),
      ...(typeof name === 'string' && { name }),
      ...(typeof most === 'number' && { max_output_tokens: most }),
      ...(isRecord(capabilities) && {
        input_modalities: ['text', ...INPUTS.flatMap(([able, kind]) => (has(capabilities[able]) ? [kind] : []))],
        output_modalities: ['text'],
        capabilities: capabilities as ModelCapabilities,
      }),
    },
  ]
}

/** Capabilities to read, and OpenRouter's words for what is read. */
const INPUTS = [
  ['image_input', 'image'],
  ['pdf_input', 'file'],
] as const

const has = (capability: unknown): boolean => isRecord(capability) && capability.supported === true
