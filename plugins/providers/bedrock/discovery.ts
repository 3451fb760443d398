import { type BaseUrl, type Host, isRecord, type Model } from 'unified-model-gateway/plugin'
import type { Authority } from './credentials.ts'

/** Where and as whom to ask. */
export interface Access {
  /** Bedrock's control plane. */
  readonly control: BaseUrl
  readonly authority: Authority
  readonly host: Pick<Host, 'getJson'>
}

/** Ten thousand profiles are more than an account has; an upstream that goes on for ever is cut off there. */
const MAX_PAGES = 10

/**
 * The models that write, and the inference profiles that reach one, by the names that calls give them. Throws where Bedrock cannot be
 * asked. ("ListFoundationModels", "ListInferenceProfiles", Amazon Bedrock API reference.)
 */
export async function listModels(access: Access, signal: AbortSignal): Promise<readonly Model[]> {
  const [models, profiles] = await Promise.all([listFoundationModels(access, signal), listProfiles(access, signal)])
  const owners = new Map(models.map((model) => [String(model.modelId), textOf(model.providerName)]))
  return [...models.flatMap(toModel), ...profiles.flatMap((profile) => toProfile(profile, owners))]
}

type Row = Readonly<Record<string, unknown>>

async function listFoundationModels(access: Access, signal: AbortSignal): Promise<readonly Row[]> {
  return rowsOf(await get(access, '/foundation-models', { byOutputModality: 'TEXT' }, signal), 'modelSummaries')
}

async function listProfiles(access: Access, signal: AbortSignal): Promise<readonly Row[]> {
  const profiles: Row[] = []
  let token = ''
  for (let page = 0; page < MAX_PAGES; page++) {
    const query = { maxResults: '1000', ...(token && { nextToken: token }) }
    const reply = await get(access, '/inference-profiles', query, signal)
    profiles.push(...rowsOf(reply, 'inferenceProfileSummaries'))
    const next = isRecord(reply) ? (textOf(reply.nextToken) ?? '') : ''
    if (next === '' || next === token) break
    token = next
  }
  return profiles
}

async function get(
  { control: { origin, path: prefix }, authority, host }: Access,
  path: string,
  query: Record<string, string>,
  signal: AbortSignal,
) {
  const headers = await authority.prove({ method: 'GET', origin, path: prefix + path, query, headers: {} })
  return host.getJson(`${origin}${prefix}${path}?${new URLSearchParams(query)}`, { headers, signal })
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
  const targets = rowsOf(profile, 'models').map(({ modelArn }) => String(modelArn).replace(/^.*\//, ''))
  const model = targets.find((target) => owners.has(target))
  return id === undefined || model === undefined || profile.status !== 'ACTIVE' ? [] : [{ id, ...ownedBy(owners.get(model)) }]
}

function ownedBy(owner: string | undefined): Pick<Model, 'owned_by'> {
  return owner === undefined ? {} : { owned_by: owner.toLowerCase() }
}

function rowsOf(reply: unknown, name: string): readonly Row[] {
  const rows = isRecord(reply) ? reply[name] : undefined
  return Array.isArray(rows) ? rows.filter(isRecord) : []
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined
}
