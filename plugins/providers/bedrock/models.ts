import {
  type FactsByModel,
  type GetPage,
  isRecord,
  type Model,
  modelFacts,
  type Paging,
  readPages,
  type Static,
  Type,
} from 'unified-model-gateway/plugin'

import shipped from './models.json' with { type: 'json' }

/**
 * Facts about models: what Bedrock takes depends on the model. The facts are in models.json, and a namespace's `facts` come before them:
 * the first row that matches a model and has a fact decides it.
 *
 * Sources of `prefill`: "The model that you are using requires the last turn in the conversation to be a user message"
 * (github.com/i-am-bee/beeai-framework, issue 753), "Prefill the assistant's content" (Amazon Nova user guide); of `toolCaching` beside the guide
 * github.com/BerriAI/litellm, issue 21969; of `topK` "Core inference" (Amazon Nova 2 user guide; read 2026-11-26); of `tiers` "Service tiers
 * for optimizing performance and cost" (Amazon Bedrock user guide, as of its launch; Claude has none), AWS's guidance for intelligent document processing (Nova 2
 * Lite), github.com/openclaw/openclaw, pull request 64512 (Kimi K2.5; read 2026-11-26); the others: "Supported models and features", "Get validated JSON results from models", "Prompt caching" (Amazon Bedrock user guide),
 * "Extended thinking" (Amazon Nova 2 user guide), the models' pages on platform.claude.com, and, for facts that these omit, langchain-aws
 * and vercel/ai (ed857f5).
 */
export const Facts = Type.Object(
  {
    sampling: Type.Union([Type.Literal('both'), Type.Literal('one'), Type.Literal('none')], {
      description: 'Takes `temperature` and `top_p`: both at once, one of them, or neither.',
    }),
    toolChoice: Type.Union([Type.Literal('named'), Type.Literal('any'), Type.Literal('auto')], {
      description: 'Can be required to use a tool: a named one, any of them, or none.',
    }),
    claudeToolChoice: Type.Boolean({
      description: "Takes Anthropic's own `tool_choice`, which can forbid tools and parallel calls.",
    }),
    strictTools: Type.Boolean({ description: 'Takes tools whose arguments must follow their schema.' }),
    schemas: Type.Boolean({ description: 'Writes JSON by a schema (`outputConfig.textFormat`).' }),
    caching: Type.Boolean({ description: 'Takes cache points.' }),
    toolCaching: Type.Boolean({ description: 'Takes cache points after tools too.' }),
    topK: Type.Union([Type.Literal('none'), Type.Literal('claude'), Type.Literal('nova')], {
      description: 'Takes `top_k`: not, by that name, or as `inferenceConfig.topK`.',
    }),
    tiers: Type.Boolean({ description: 'Takes the tiers `priority` and `flex`.' }),
    messages: Type.Union([Type.Literal('none'), Type.Literal('first'), Type.Literal('versions')], {
      description: "Takes Anthropic's Messages API: not, by its first version only, or by the one that the client names.",
    }),
    shortToolIds: Type.Boolean({ description: 'Takes ids of tool calls of nine letters and digits only.' }),
    reasoning: Type.Union(
      [Type.Literal('none'), Type.Literal('budget'), Type.Literal('adaptive'), Type.Literal('effort'), Type.Literal('nova')],
      {
        description:
          'The parameter of its reasoning: `thinking` with a budget or adaptive, `reasoning_effort`, or `reasoningConfig`.',
      },
    ),
    alwaysReasons: Type.Boolean({
      description: 'Reasons without a reasoning_effort. Of the kinds `adaptive` and `effort` only.',
    }),
    reasoningOff: Type.Union([Type.Literal('disabled'), Type.Literal('between_tools'), Type.Literal('never')], {
      description: 'The `thinking.type` that turns off the reasoning of a model that always reasons, or never.',
    }),
    budgets: Type.Boolean({ description: 'Takes a number of tokens to reason with too. Of the kind `adaptive` only.' }),
    xhigh: Type.Boolean({ description: 'Knows the effort `xhigh`.' }),
    prefill: Type.Boolean({
      description: 'Takes a conversation that ends with the assistant, whose message it continues if it does not reason.',
    }),
    maxTokens: Type.Integer({ minimum: 1, description: 'The most tokens of one reply. A budget is a share of it.' }),
  },
  { additionalProperties: false },
)

/** The facts about one model. */
export type ModelFacts = Static<typeof Facts>

/** A namespace's `facts`: rows by globs of model names. */
export type FactsTable = FactsByModel<ModelFacts>

/** The schema of one row of a namespace's `facts`. */
export const factsRow = Type.Partial(Facts, { additionalProperties: false })

/** A model without a row: it is sent what all models take, and Bedrock refuses what this one does not. */
const UNKNOWN: ModelFacts = {
  sampling: 'both',
  toolChoice: 'named',
  claudeToolChoice: false,
  strictTools: false,
  schemas: false,
  caching: false,
  toolCaching: false,
  topK: 'none',
  tiers: false,
  messages: 'none',
  shortToolIds: false,
  reasoning: 'none',
  alwaysReasons: false,
  reasoningOff: 'never',
  budgets: false,
  xhigh: false,
  prefill: false,
  maxTokens: 4096,
}

/** The facts about a model. `own`: the operator's rows, which come before models.json. */
export function factsOf(model: string, own: FactsTable = {}): ModelFacts {
  return modelFacts(model, [own, shipped as FactsTable], UNKNOWN)
}

/** Makes the function that GETs a page of a list, by the list's path on Bedrock's control plane. */
export type GetList = (path: string) => GetPage

/** "ListFoundationModels", Amazon Bedrock API reference: a single page. */
const MODELS: Paging = {
  entries: 'modelSummaries',
  id: 'modelId',
  query: { byOutputModality: 'TEXT' },
  cursor: 'nextToken',
  next: () => undefined,
}

/** "ListInferenceProfiles", Amazon Bedrock API reference. */
const PROFILES: Paging = {
  entries: 'inferenceProfileSummaries',
  id: 'inferenceProfileId',
  query: { maxResults: '1000' },
  cursor: 'nextToken',
  next: ({ nextToken }) => nextToken,
}

type Row = Readonly<Record<string, unknown>>

/**
 * The models that generate text, and the inference profiles for such models, by the names that calls use. Throws if a request fails.
 */
export async function listModels(get: GetList): Promise<readonly Model[]> {
  const [models, profiles] = await Promise.all([
    readPages(get('/foundation-models'), MODELS),
    readPages(get('/inference-profiles'), PROFILES),
  ])
  const byId = new Map(models.map((model) => [String(model.modelId), model]))
  return [...models.flatMap(toModel), ...profiles.flatMap((profile) => toProfile(profile, byId))]
}

/** A model that can be called by its own name; others are called by a profile. */
function toModel(model: Row): Model[] {
  const { modelId, modelLifecycle, inferenceTypesSupported } = model
  const id = nameOf(modelId)
  const onDemand = Array.isArray(inferenceTypesSupported) && inferenceTypesSupported.includes('ON_DEMAND')
  const isActive = !isRecord(modelLifecycle) || modelLifecycle.status === 'ACTIVE'
  return id === undefined || !onDemand || !isActive ? [] : [{ id, ...factsIn(model) }]
}

/** AWS's profiles are called by their id, those of the account by their ARN. */
function toProfile(profile: Row, models: ReadonlyMap<string, Row>): Model[] {
  const id = nameOf(profile.type === 'APPLICATION' ? profile.inferenceProfileArn : profile.inferenceProfileId)
  const listed = Array.isArray(profile.models) ? profile.models.filter(isRecord) : []
  const targets = listed.map(({ modelArn }) => String(modelArn).replace(/^.*\//, ''))
  const model = targets.map((target) => models.get(target)).find((found) => found !== undefined)
  return id === undefined || model === undefined || profile.status !== 'ACTIVE' ? [] : [{ id, ...factsIn(model) }]
}

/** What "FoundationModelSummary" of the Amazon Bedrock API reference says of a model (read 2026-11-26): `TEXT`, `IMAGE` …. */
function factsIn({ modelName, providerName, inputModalities, outputModalities }: Row): Omit<Model, 'id'> {
  const [name, owner] = [nameOf(modelName), nameOf(providerName)]
  const lists = { input_modalities: inputModalities, output_modalities: outputModalities }
  return {
    ...(owner !== undefined && { owned_by: owner.toLowerCase() }),
    ...(name !== undefined && { name }),
    ...Object.fromEntries(
      Object.entries(lists).flatMap(([key, list]) => (Array.isArray(list) ? [[key, list.map(lowerCase)]] : [])),
    ),
  }
}

const lowerCase = (value: unknown): string => String(value).toLowerCase()

function nameOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
