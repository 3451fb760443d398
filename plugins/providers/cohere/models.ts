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

/**
 * Facts about models: what Cohere takes depends on the model. The facts are in models.json, and a namespace's `facts` come before them: the
 * first row that matches a model and has a fact decides it.
 *
 * Sources: the models' pages, "How do Structured Outputs Work?" (read 2026-11-26), "Reasoning capabilities", "Errors" and the Chat API's reference on docs.cohere.com.
 */
export const Facts = Type.Object(
  {
    thinking: Type.Boolean({ description: 'Thinks, and takes a budget to think with.' }),
    strictTools: Type.Boolean({ description: 'Takes `strict_tools`: arguments of tools then follow their schemas.' }),
    toolChoice: Type.Boolean({ description: 'Can be required to use a tool, or none.' }),
    maxTokens: Type.Integer({
      minimum: 1,
      description: 'The most tokens of one reply. A budget to think with is a share of it.',
    }),
  },
  { additionalProperties: false },
)

/** The facts about one model. */
export type ModelFacts = Static<typeof Facts>

/** A namespace's `facts`: rows by globs of model names. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** A model without a row is treated as the newest ones. */
const UNKNOWN: ModelFacts = { thinking: true, strictTools: false, toolChoice: true, maxTokens: 32_000 }

/** The facts about a model. `own`: the operator's rows, which come before models.json. */
export function factsOf(model: string, own: FactsTable = {}): ModelFacts {
  return modelFacts(model, [own, shipped as FactsTable], UNKNOWN)
}

/** "List models", docs.cohere.com. */
const PAGING: Paging = {
  entries: 'models',
  id: 'name',
  query: { endpoint: 'chat', page_size: '1000' },
  cursor: 'page_token',
  next: ({ next_page_token }) => next_page_token,
}

/** The chat models. `get`: GETs a page of `/v1/models`. Throws if a request fails. */
export async function listModels(get: GetPage): Promise<readonly Model[]> {
  return (await readPages(get, PAGING)).flatMap(toModel)
}

function toModel({ name, context_length: length }: Readonly<Record<string, unknown>>): Model[] {
  if (typeof name !== 'string' || name === '') return []
  return [{ id: name, owned_by: 'cohere', ...(typeof length === 'number' && { context_length: length }) }]
}
