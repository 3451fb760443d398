import { type FactsByModel, modelFacts, type Static, Type } from 'unified-model-gateway/plugin'
import shipped from './models.json' with { type: 'json' }

const Level = Type.Union([Type.Literal('MINIMAL'), Type.Literal('LOW'), Type.Literal('MEDIUM'), Type.Literal('HIGH')])

/**
 * What generateContent takes from a client depends on the model. models.json has what is known, and the `facts` of a namespace add to
 * it: the first row whose glob fits a model and that has a fact decides it.
 *
 * Sources: "What's new in Gemini 3.6 Flash" and its successors, "Thinking" and "Thought signatures" (ai.google.dev); the developer's
 * guides of docs.cloud.google.com; recorded refusals of vercel/ai (`packages/google/src/__fixtures__`).
 */
export const Facts = Type.Object({
  thinking: Type.Union([Type.Literal('none'), Type.Literal('budget'), Type.Literal('level')], {
    description: 'How a request says how much to think: not at all, by tokens, or by a level.',
  }),
  levels: Type.Array(Level, { minItems: 1, description: 'The thinking levels it knows.' }),
  budget: Type.Object(
    { least: Type.Integer({ minimum: 1 }), most: Type.Integer({ minimum: 1 }), off: Type.Boolean() },
    { additionalProperties: false, description: 'Tokens it may think with, and whether thinking can be switched off.' },
  ),
  sampling: Type.Boolean({ description: 'Whether it takes temperature and top_p.' }),
  penalties: Type.Boolean({ description: 'Whether it takes frequency_penalty and presence_penalty.' }),
  choices: Type.Integer({ minimum: 1, description: 'The most choices one call may ask for.' }),
  jsonWithTools: Type.Boolean({ description: 'Whether it takes a response_format beside tools.' }),
  signatures: Type.Boolean({ description: 'Whether it refuses a function call that has no thought signature.' }),
  contextLength: Type.Optional(
    Type.Integer({ minimum: 1, description: 'Tokens of a prompt, for lists of models that do not say it themselves.' }),
  ),
})

/** All that is known of one model. */
export type ModelFacts = Static<typeof Facts>

/** Rows of facts by globs of model names, as a namespace's `facts` has them. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** A Gemini yet to come: what the newest ones take. */
const NEWEST: ModelFacts = {
  thinking: 'level',
  levels: ['LOW', 'MEDIUM', 'HIGH'],
  budget: { least: 1, most: 24_576, off: true },
  sampling: false,
  penalties: false,
  choices: 1,
  jsonWithTools: true,
  signatures: true,
}

/** The facts of a model. `tables` go before what ships, the first one foremost. */
export function factsOf(model: string, ...tables: readonly FactsTable[]): ModelFacts {
  return modelFacts(model, [...tables, shipped as FactsTable], NEWEST)
}
