import {
  type BudgetMember,
  type Call,
  type FactsByModel,
  type FormatMembers,
  type FormatPlan,
  type Hints,
  isRecord,
  modelFacts,
  planFormat,
  type Static,
  Type,
} from 'unified-model-gateway/plugin'

/** Which calls may ask for a format of the answer. */
const FORMATS = ['always', 'without-tools', 'never'] as const

const LEVELS = ['none', 'minimal', 'low', 'medium', 'high', 'xhigh', 'max'] as const

/** The facts about one model: what it takes of a call whose client does not know which model answers. */
const Facts = Type.Object(
  {
    efforts: Type.Array(Type.Enum([...LEVELS]), {
      description:
        'The values of `reasoning_effort` that the model takes. A call of the Messages API, whose effort is a hint, gets the nearest one below its own; if there is none, the effort is left out and named.',
    }),
    cacheControl: Type.Boolean({ description: 'Takes `cache_control`, the marks for the cache of prompts.' }),
    schemas: Type.Enum([...FORMATS], {
      description:
        'Whether its answers follow the JSON schema of `response_format`. Else the answer is the arguments of a tool that the model must call, or is asked for by an instruction, and is checked against the schema.',
    }),
    objects: Type.Enum([...FORMATS], {
      description: 'Whether it takes the `response_format` json_object. Else an instruction asks for the object.',
    }),
    forcedTools: Type.Boolean({ description: 'Whether it can be required to call a tool.' }),
    budget: Type.Optional(
      Type.Object(
        {
          by: Type.Enum(
            ['thinking', 'reasoning', 'thinking_budget', 'reasoning_budget', 'thinking_token_budget'] satisfies BudgetMember[],
            { examples: ['thinking_budget'] },
          ),
          switch: Type.Optional(Type.Enum(['enable_thinking'])),
          least: Type.Optional(Type.Integer({ minimum: 0 })),
          most: Type.Optional(Type.Integer({ minimum: 1 })),
        },
        {
          additionalProperties: false,
          description:
            'The member by which the model takes the most tokens to think with, a member that must be true with it (`switch`), and the bounds of their number. A call of the Messages API with `budget_tokens` gets it in place of an effort.',
        },
      ),
    ),
  },
  { additionalProperties: false },
)

/** The facts about one model. */
type ModelFacts = Static<typeof Facts>

/** Rows by globs of model names. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** Of an upstream that ignores an effort that a model does not take. */
export const IGNORES_EFFORT: FactsTable = { '*': { efforts: [...LEVELS] } }

/** OpenAI's models before gpt-4o-2024-08-06 ("Structured Outputs", platform.openai.com; read 2026-11-26), and Azure's names of them. */
export const SCHEMAS_OF_OPENAI: FactsTable = {
  'gpt-3.5*': { schemas: 'never' },
  'gpt-35*': { schemas: 'never' },
  'gpt-4': { schemas: 'never' },
  'gpt-4-*': { schemas: 'never' },
  'gpt-4o-2024-05-13': { schemas: 'never' },
}

/** Of a vendor with `json_object` alone, whose models cannot be required to call a tool while they think. */
export const OBJECTS_ONLY: FactsTable = { '*': { schemas: 'never', forcedTools: false } }

/** Of a server whose models call no tools while they write in a format. */
export const FORMATS_WITHOUT_TOOLS: FactsTable = { '*': { schemas: 'without-tools', objects: 'without-tools' } }

/** Groq's models with structured outputs, which "cannot be combined with tools"; the others answer 400 to a schema. */
export const FORMATS_OF_GROQ: FactsTable = {
  '*gpt-oss-*': { schemas: 'without-tools' },
  '*llama-4-*': { schemas: 'without-tools' },
  '*kimi-k2-*': { schemas: 'without-tools' },
  '*': { schemas: 'never' },
}

/** Claude behind a gateway that passes its marks on. */
export const MARKS_OF_CLAUDE: FactsTable = { '*claude*': { cacheControl: true } }

const efforts = (text: string): ModelFacts['efforts'] =>
  text.split(' ').filter((level) => LEVELS.includes(level as never)) as never

/** Of a gateway that takes `reasoning.max_tokens` for all models, and turns it into an effort for those that take one. */
export const TAKES_BUDGET: FactsTable = { '*': { budget: { by: 'reasoning' } } }

/** A row for each of these globs. */
const rows = (globs: string, row: Partial<ModelFacts>): FactsTable =>
  Object.fromEntries(globs.split(/\s+/).map((glob) => [glob, row]))

/**
 * Models at OpenRouter that always reason, and cannot be asked not to: "Reasoning is mandatory for this endpoint" (elie222/rakazo, issue 114;
 * Kilo-Org/kilocode, issue 11751; musistudio/claude-code-router, issue 1215; read 2026-11-26).
 */
export const REASONERS_OF_OPENROUTER: FactsTable = rows('*gemini-* *minimax-m2*', {
  efforts: LEVELS.filter((level) => level !== 'none'),
})

/** Qwen's models that may think or not, by a number of tokens. */
export const BUDGETS_OF_QWEN: FactsTable = rows('qwen3.* qwen-plus* qwen-flash* qwen-turbo*', {
  budget: { by: 'thinking_budget', switch: 'enable_thinking' },
})

/**
 * Models that think at SiliconFlow, unless they are told not to: docs.siliconflow.cn, "Chat completions", `thinking_budget`; the models by
 * github.com/anomalyco/models.dev, providers/siliconflow (of 2026-07-02, read 2026-11-26).
 */
export const THINKERS_OF_SILICONFLOW: FactsTable = {
  ...rows(
    `*Qwen3-8B *Qwen3-14B *Qwen3-32B *Qwen3-30B-A3B *Qwen3-235B-A22B *Qwen3-30B-A3B-Thinking* *Qwen3-235B-A22B-Thinking* *Qwen3.5-* *QwQ-*
    *DeepSeek-R1* *DeepSeek-V3.1* *DeepSeek-V3.2* *DeepSeek-V4* *GLM-4.5V *GLM-4.6 *GLM-4.7 *GLM-5 *GLM-5.1 *GLM-5V* *Kimi-K2.* *gpt-oss-*
    *Hunyuan-A13B* *Hy3-*`,
    { budget: { by: 'thinking_budget', least: 128, most: 32_768 } },
  ),
  '*GLM-5.2': { efforts: efforts('high max') },
}

/**
 * Models that think at Fireworks. Efforts: docs.fireworks.ai/guides/reasoning; github.com/anomalyco/models.dev, providers/fireworks-ai (of
 * 2026-07-02). `thinking`, which excludes an effort: ai-sdk.dev/providers/ai-sdk-providers/fireworks. Read 2026-11-26.
 */
export const THINKERS_OF_FIREWORKS: FactsTable = {
  '*deepseek-v4*': { efforts: efforts('none high max') },
  '*glm-5p2*': { efforts: efforts('none high max') },
  '*minimax-m*': { efforts: efforts('low medium high') },
  '*qwen3*': { efforts: efforts('none low medium high'), budget: { by: 'thinking', least: 1024 } },
  '*kimi-k2*': { budget: { by: 'thinking', least: 1024 } },
}

/**
 * Models that think at NVIDIA, by their pages at docs.api.nvidia.com/nim/reference, as github.com/mnfst/modelparams.dev (of 2026-08-22) and
 * github.com/anomalyco/models.dev (of 2026-07-02) list them. Read 2026-11-26. Others refuse `reasoning_budget`: can1357/oh-my-pi, pull request 2299.
 */
export const THINKERS_OF_NVIDIA: FactsTable = {
  '*nemotron-3-ultra*': { efforts: efforts('none medium high'), budget: { by: 'reasoning_budget', most: 32_768 } },
  '*nemotron-3-super*': { efforts: efforts('none low high'), budget: { by: 'reasoning_budget', most: 32_768 } },
  '*deepseek-v4*': { efforts: efforts('none high max') },
  '*mistral-small-4*': { efforts: efforts('none high') },
  '*step-3*': { efforts: efforts('low medium high') },
}

/** Gemini 2.5 at Google's address with OpenAI's protocol, where the quirk `google-thinking` moves it; the bounds are those of the native one. */
export const BUDGETS_OF_GEMINI: FactsTable = {
  '*gemini-2.5-pro*': { budget: { by: 'thinking', least: 128, most: 32_768 } },
  '*gemini-2.5-flash-lite*': { budget: { by: 'thinking', least: 512, most: 24_576 } },
  '*gemini-2.5-flash*': { budget: { by: 'thinking', least: 1, most: 24_576 } },
}

/** Both as a vendor names it, and after the name of an owner. */
const named = (glob: string, row: Partial<ModelFacts>): FactsTable => ({ [glob]: row, [`*/${glob}`]: row })

/**
 * Models that take an effort on chat completions; a model without a row is not known to. The first row that matches decides.
 * OpenAI: learn.microsoft.com, "Azure OpenAI reasoning models"; developers.openai.com, models; github.com/UKGovernmentBEIS/inspect_ai, issue 5254.
 * gpt-oss and Qwen: console.groq.com/docs/reasoning. Grok: docs.x.ai and github.com/vercel/ai, packages/xai. Gemini: ai.google.dev, "OpenAI
 * compatibility". Kimi: platform.moonshot.ai. Read in November 2026.
 */
const SHIPPED: FactsTable = {
  '*gpt-oss*': { efforts: efforts('low medium high') },
  '*gpt-*-chat*': { efforts: [] },
  '*gpt-5.1*': { efforts: efforts('none low medium high') },
  '*gpt-5.*': { efforts: efforts('none low medium high xhigh') },
  '*gpt-5*': { efforts: efforts('minimal low medium high') },
  '*gpt-6-astra*': { efforts: efforts('low medium high xhigh') },
  '*gpt-6.1-sol*': { efforts: efforts('low medium high xhigh') },
  '*gpt-6*': { efforts: efforts('none low medium high xhigh') },
  ...named('o1-mini*', { efforts: [] }),
  ...named('o1-preview*', { efforts: [] }),
  ...named('o1*', { efforts: efforts('low medium high') }),
  ...named('o3*', { efforts: efforts('low medium high') }),
  ...named('o4*', { efforts: efforts('low medium high') }),
  '*grok-3-mini*': { efforts: efforts('low high') },
  '*grok-4.3*': { efforts: efforts('none low medium high xhigh') },
  '*grok-4.5*': { efforts: efforts('low medium high') },
  '*grok-4.6*': { efforts: efforts('low medium high xhigh') },
  '*grok-4.7*': { efforts: efforts('low medium high xhigh') },
  '*qwen3.8*': { efforts: efforts('none low medium high') },
  '*kimi-k3*': { efforts: efforts('low high max') },
  '*mistral-medium-3.5*': { efforts: efforts('none high') },
  '*gemini-2.5-pro*': { efforts: efforts('minimal low medium high') },
  '*gemini-2.5*': { efforts: efforts('none minimal low medium high') },
  '*gemini-3*': { efforts: efforts('minimal low medium high') },
}

const UNKNOWN: ModelFacts = { efforts: [], cacheControl: false, schemas: 'always', objects: 'always', forcedTools: true }

/** What a model takes of hints. `tables`: of the operator and of the preset, which come before those that ship. */
export const hintsOf = (model: string, tables: readonly FactsTable[]): Hints => modelFacts(model, [...tables, SHIPPED], UNKNOWN)

/** Whether a call of the Responses API asks for no schema that its model is known to lack. One that goes on from a kept response stays where that is. */
export function takesFormat(call: Pick<Call, 'keys' | 'member'>, model: string, tables: readonly FactsTable[]): boolean {
  if (!call.keys.includes('text') || KEPT.some((name) => call.keys.includes(name))) return true
  const text = call.member('text')
  const asksForSchema = isRecord(text) && isRecord(text.format) && text.format.type === 'json_schema'
  return !asksForSchema || modelFacts(model, [...tables, SHIPPED], UNKNOWN).schemas !== 'never'
}

const KEPT = ['previous_response_id', 'conversation', 'prompt']

/** Whether a table has any fact about formats: a namespace without one passes them on. */
export const hasFormats = (table: FactsTable): boolean =>
  Object.values(table).some(({ schemas, objects }) => schemas !== undefined || objects !== undefined)

/** How the format of a request is served. `tables`: as for `hintsOf`. */
export const formatPlan = (request: FormatMembers, model: string, tables: readonly FactsTable[]): FormatPlan | undefined =>
  planFormat(request, () => {
    const { schemas, objects, forcedTools } = modelFacts(model, [...tables, SHIPPED], UNKNOWN)
    const asks = (request.tools ?? []).length > 0 ? ['always'] : ['always', 'without-tools']
    return { schema: asks.includes(schemas), object: asks.includes(objects), forcedTools }
  })
