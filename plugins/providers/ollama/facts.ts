import { type FactsByModel, modelFacts, type Static, Type } from 'unified-model-gateway/plugin'

/** The facts about one model. */
const Facts = Type.Object(
  { thinking: Type.Boolean({ description: 'Takes `think`. Ollama answers 400 to it for a model that does not.' }) },
  { additionalProperties: false },
)

/** Rows by globs of model names. */
export type FactsTable = FactsByModel<Static<typeof Facts>>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** Families that think (ollama.com/search?c=thinking, November 2026), for servers whose list of models does not say so. */
const SHIPPED: FactsTable = {
  '*qwen3-coder*': { thinking: false },
  ...Object.fromEntries(
    [
      'gpt-oss',
      'deepseek-r1',
      'deepseek-v3.',
      'deepseek-v4',
      'qwen3',
      'magistral',
      'glm-4.',
      'glm-5',
      'kimi-k',
      'minimax-m',
      'nemotron-3',
    ].map((family) => [`*${family}*`, { thinking: true }]),
  ),
}

/** Whether a model thinks. `listed`: what the server's list says of it; `own`: the operator's rows, which come first. */
export const thinks = (model: string, own: FactsTable, listed: boolean | undefined): boolean =>
  modelFacts(model, [own, ...(listed === undefined ? [SHIPPED] : [])], { thinking: listed ?? false }).thinking
