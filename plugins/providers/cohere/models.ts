import { type FactsByModel, modelFacts, type Static, Type } from 'unified-model-gateway/plugin'
import shipped from './models.json' with { type: 'json' }

/** What Cohere takes from a client depends on the model. The schema of an operator's own rows. */
export const Facts = Type.Object(
  {
    thinking: Type.Boolean({ description: 'Thinks, and can be told how much.' }),
    toolChoice: Type.Boolean({ description: 'Can be made to use a tool, or none.' }),
    maxTokens: Type.Integer({
      minimum: 1,
      description: 'The most tokens of one reply, of which a budget to think with is a share.',
    }),
  },
  { additionalProperties: false },
)

/** What is known of a model. */
export type ModelFacts = Static<typeof Facts>

/** A model that no row fits is taken for a new one. */
const UNKNOWN: ModelFacts = { thinking: true, toolChoice: true, maxTokens: 32_000 }

/**
 * The facts of a model; an operator's rows before those of models.json. Their sources: the models' pages, "Reasoning capabilities",
 * "Errors" and the Chat API's reference on docs.cohere.com.
 */
export function factsOf(model: string, own: FactsByModel<ModelFacts> = {}): ModelFacts {
  return modelFacts(model, [own, shipped as FactsByModel<ModelFacts>], UNKNOWN)
}
