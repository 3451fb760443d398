import { type FactsByModel, modelFacts, type Static, Type } from 'unified-model-gateway/plugin'
import shipped from './models.json' with { type: 'json' }

/**
 * What the Messages API takes from a client depends on the model's generation. models.json has what is known, and the `facts` of a
 * namespace add to it: the first row whose glob fits a model and that has a fact decides it.
 *
 * Sources: platform.claude.com, "Models overview", "Troubleshooting thinking" (the table of modes), "Effort" and the migration
 * guides of Opus 5.5, Sonnet 5.5 and Haiku 5.5; `getModelCapabilities` of vercel/ai (ed857f5).
 */
export const Facts = Type.Object({
  maxTokens: Type.Integer({ minimum: 1, description: 'The most tokens of one reply: what is asked for where nobody says.' }),
  sampling: Type.Boolean({ description: 'Whether it takes temperature and top_p.' }),
  structuredOutputs: Type.Boolean({ description: 'Whether it writes JSON by a schema, and takes strict tools.' }),
  forcedTools: Type.Boolean({ description: 'Whether it can be made to use a tool.' }),
  thinking: Type.Union([Type.Literal('none'), Type.Literal('budget'), Type.Literal('adaptive')], {
    description: 'How a request says how much to think: not at all, by tokens, or by an effort.',
  }),
  alwaysThinks: Type.Boolean({ description: 'Whether it thinks where nobody asks it to. Of `adaptive` models only.' }),
  thinkingOff: Type.Union([Type.Literal('disabled'), Type.Literal('between_tools'), Type.Literal('never')], {
    description: 'The `thinking.type` that turns thinking off, if one does. Of `adaptive` models only.',
  }),
  xhigh: Type.Boolean({ description: 'Whether it knows the effort `xhigh`.' }),
})

/** All that is known of one model. */
export type ModelFacts = Static<typeof Facts>

/** Rows of facts by globs of model names, as a namespace's `facts` has them. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** Another server's model that speaks the Messages API: it is asked for nothing special. */
const PLAINEST: ModelFacts = {
  maxTokens: 4096,
  sampling: true,
  structuredOutputs: false,
  forcedTools: true,
  thinking: 'none',
  alwaysThinks: false,
  thinkingOff: 'disabled',
  xhigh: false,
}

/** The facts of a model. `own` rows, an operator's, go before what ships. */
export function factsOf(model: string, own: FactsTable = {}): ModelFacts {
  return modelFacts(model, [own, shipped as FactsTable], PLAINEST)
}
