import { type FactsByModel, modelFacts, type Static, Type } from 'unified-model-gateway/plugin'
import shipped from './models.json' with { type: 'json' }

/** What Converse takes from a client depends on the model behind it. The schema of an operator's own rows. */
export const Facts = Type.Object(
  {
    sampling: Type.Union([Type.Literal('both'), Type.Literal('one'), Type.Literal('none')], {
      description: 'Takes `temperature` and `top_p`: both at once, one of them, or neither.',
    }),
    toolChoice: Type.Union([Type.Literal('named'), Type.Literal('any'), Type.Literal('auto')], {
      description: 'Can be made to use a tool: a named one, any of them, or none.',
    }),
    claudeToolChoice: Type.Boolean({
      description: "Takes Anthropic's own `tool_choice`, which can forbid tools and parallel calls.",
    }),
    strictTools: Type.Boolean({ description: 'Takes tools whose arguments must follow their schema.' }),
    schemas: Type.Boolean({ description: 'Writes JSON by a schema (`outputConfig.textFormat`).' }),
    caching: Type.Boolean({ description: 'Takes cache points.' }),
    shortToolIds: Type.Boolean({ description: 'Takes ids of tool calls of nine letters and digits only.' }),
    reasoning: Type.Union(
      [Type.Literal('none'), Type.Literal('budget'), Type.Literal('adaptive'), Type.Literal('effort'), Type.Literal('nova')],
      {
        description: 'How it is told to reason: `thinking` with a budget or adaptive, `reasoning_effort`, or `reasoningConfig`.',
      },
    ),
    alwaysReasons: Type.Boolean({ description: 'Reasons where nobody asks it to: of the kinds `adaptive` and `effort` only.' }),
    reasoningOff: Type.Union([Type.Literal('disabled'), Type.Literal('between_tools'), Type.Literal('never')], {
      description: 'What turns off the reasoning of a model that always does: a `thinking.type`, or nothing.',
    }),
    xhigh: Type.Boolean({ description: 'Knows the effort `xhigh`.' }),
    maxTokens: Type.Integer({ minimum: 1, description: 'The most tokens of one reply, of which a budget is a share.' }),
  },
  { additionalProperties: false },
)

/** What is known of a model. */
export type ModelFacts = Static<typeof Facts>

/** A model that no row fits: everything is sent that all models take, and Bedrock says what this one does not. */
const UNKNOWN: ModelFacts = {
  sampling: 'both',
  toolChoice: 'named',
  claudeToolChoice: false,
  strictTools: false,
  schemas: false,
  caching: false,
  shortToolIds: false,
  reasoning: 'none',
  alwaysReasons: false,
  reasoningOff: 'never',
  xhigh: false,
  maxTokens: 4096,
}

/**
 * The facts of a model; an operator's rows before those of models.json. Their sources: "Supported models and features", "Get validated
 * JSON results from models", "Prompt caching" (Amazon Bedrock user guide), "Extended thinking" (Amazon Nova 2 user guide), the models'
 * pages on platform.claude.com, and where those are silent langchain-aws and vercel/ai (ed857f5), which tried them.
 */
export function factsOf(model: string, own: FactsByModel<ModelFacts> = {}): ModelFacts {
  return modelFacts(model, [own, shipped as FactsByModel<ModelFacts>], UNKNOWN)
}
