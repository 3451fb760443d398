import { type GetPage, isRecord, type Model, type Paging, readPages } from 'unified-model-gateway/plugin'

/** Asks Bedrock's control plane for the list at a path. */
export type GetList = (path: string) => GetPage

/** "ListFoundationModels", Amazon Bedrock API reference: all of them are on one page. */
const MODELS: Paging = {
  entries: 'modelSummaries',
  query: { byOutputModality: 'TEXT' },
  cursor: 'nextToken',
  next: () => undefined,
}

/** "ListInferenceProfiles", Amazon Bedrock API reference. */
const PROFILES: Paging = {
  entries: 'inferenceProfileSummaries',
  query: { maxResults: '1000' },
  cursor: 'nextToken',
  next: ({ nextToken }) => nextToken,
}

type Row = Readonly<Record<string, unknown>>

/**
 * The models that write, and the inference profiles that reach one, by the names that calls give them. Throws where Bedrock cannot be
 * asked.
 */
export async function listModels(get: GetList): Promise<readonly Model[]> {
  const [models, profiles] = await Promise.all([
    readPages(get('/foundation-models'), MODELS),
    readPages(get('/inference-profiles'), PROFILES),
  ])
  const owners = new Map(models.map((model) => [String(model.modelId), textOf(model.providerName)]))
  return [...models.flatMap(toModel), ...profiles.flatMap((profile) => toProfile(profile, owners))]
}

/** A model that can be called by its own name; the others are reached by a profile. */
function toModel({ modelId, providerName, modelLifecycle, inferenceTypesSupported }: Row): Model[] {
  const id = textOf(modelId)
  const onDemand = Array.isArray(inferenceTypesSupported) && inferenceTypesSupported.includes('ON_DEMAND')
  const isActive = !isRecord(modelLifecycle) || modelLifecycle.status === 'ACTIVE'
  return id === undefined || !onDemand || !isActive ? [] : [{ id, ...ownedBy(textOf(providerName)) }]
}

/** AWS's own profiles are called by their id, those of the account by their ARN. */
function toProfile(profile: Row, owners: ReadonlyMap<string, string | undefined>): Model[] {
  const id = textOf(profile.type === 'APPLICATION' ? profile.inferenceProfileArn : profile.inferenceProfileId)
  const reached = Array.isArray(profile.models) ? profile.models.filter(isRecord) : []
  const targets = reached.map(({ modelArn }) => String(modelArn).replace(/^.*\//, ''))
  const model = targets.find((target) => owners.has(target))
  return id === undefined || model === undefined || profile.status !== 'ACTIVE' ? [] : [{ id, ...ownedBy(owners.get(model)) }]
}

function ownedBy(owner: string | undefined): Pick<Model, 'owned_by'> {
  return owner === undefined ? {} : { owned_by: owner.toLowerCase() }
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
