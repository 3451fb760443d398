import {
  type FactsByModel,
  type GetPage,
  type Model,
  modelFacts,
  type Paging,
  readPages,
  type Static,
  Type,
} from 'unified-model-gateway/plugin'

import shipped from './models.json' with { type: 'json' }

const Level = Type.Union([Type.Literal('MINIMAL'), Type.Literal('LOW'), Type.Literal('MEDIUM'), Type.Literal('HIGH')])

/**
 * Facts about models: what generateContent takes depends on the model. The facts are in models.json, and a namespace's `facts` come before
 * them: the first row that matches a model and has a fact decides it.
 *
 * Sources: "What's new in Gemini 3.6 Flash" and its successors, "Thinking" and "Thought signatures" (ai.google.dev); the developer's
 * guides of docs.cloud.google.com; github.com/LibreChat-AI/agents, pull request 323 (2026-07-21), for models that refuse to continue a turn; recorded refusals of vercel/ai (`packages/google/src/__fixtures__`).
 */
export const Facts = Type.Object({
  thinking: Type.Union([Type.Literal('none'), Type.Literal('budget'), Type.Literal('level')], {
    description: 'How a request says how much to think: not at all, by tokens, or by a level.',
  }),
  levels: Type.Array(Level, { minItems: 1, description: 'The thinking levels it knows.' }),
  budget: Type.Object(
    {
      least: Type.Integer({ minimum: 1, examples: [128] }),
      most: Type.Integer({ minimum: 1, examples: [32_768] }),
      off: Type.Boolean({ examples: [true] }),
    },
    {
      additionalProperties: false,
      description: 'The bounds of its thinking budget in tokens, and whether thinking can be switched off.',
    },
  ),
  sampling: Type.Boolean({ description: 'Whether it takes temperature and top_p.' }),
  penalties: Type.Boolean({ description: 'Whether it takes frequency_penalty and presence_penalty.' }),
  choices: Type.Integer({ minimum: 1, description: 'The most choices of one call.' }),
  jsonWithTools: Type.Boolean({ description: 'Whether it takes a response_format together with tools.' }),
  prefill: Type.Boolean({ description: 'Whether it takes a conversation that ends with the model, whose turn it continues.' }),
  signatures: Type.Boolean({ description: 'Whether it refuses a function call that has no thought signature.' }),
  contextLength: Type.Optional(
    Type.Integer({ minimum: 1, description: 'The most tokens of a prompt, for lists of models that omit it.' }),
  ),
})

/** The facts about one model. */
export type ModelFacts = Static<typeof Facts>

/** A namespace's `facts`: rows by globs of model names. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** A model without a row is treated as the newest ones. */
const NEWEST: ModelFacts = {
  thinking: 'level',
  levels: ['LOW', 'MEDIUM', 'HIGH'],
  budget: { least: 1, most: 24_576, off: true },
  sampling: false,
  penalties: false,
  choices: 1,
  jsonWithTools: true,
  prefill: false,
  signatures: true,
}

/** The facts about a model. `tables` come before models.json, the first one first. */
export function factsOf(model: string, ...tables: readonly FactsTable[]): ModelFacts {
  return modelFacts(model, [...tables, shipped as FactsTable], NEWEST)
}

/** How Google splits lists into pages. `entries`: the member with the entries. */
export function googlePaging(entries: string, pageSize: number): Paging {
  return {
    entries,
    id: 'name',
    query: { pageSize: String(pageSize) },
    cursor: 'pageToken',
    next: ({ nextPageToken }) => nextPageToken,
  }
}

const PAGING = googlePaging('models', 1000)

/** The chat models that the key may use. `get`: GETs a page of `/models`. Throws if a request fails. */
export async function listModels(get: GetPage): Promise<readonly Model[]> {
  return (await readPages(get, PAGING)).flatMap(toModel)
}

function toModel({ name, supportedGenerationMethods: methods, ...rest }: Readonly<Record<string, unknown>>): Model[] {
  const { displayName, inputTokenLimit, outputTokenLimit } = rest
  if (typeof name !== 'string' || !Array.isArray(methods) || !methods.includes('generateContent')) return []
  return [
    {
      id: name.replace(/^models\//, ''),
      owned_by: 'google',
      ...(typeof inputTokenLimit === 'number' && { context_length: inputTokenLimit }),
      ...(typeof displayName === 'string' && { name: displayName }),
      ...(typeof outputTokenLimit === 'number' && { max_output_tokens: outputTokenLimit }),
    },
  ]
}
