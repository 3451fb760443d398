import { parseBaseUrl } from 'unified-model-gateway/plugin'

/** A project in a region. */
export interface Location {
  readonly project: string
  /** `us-east5`, `eu`, `global`. */
  readonly region: string
  /** Replaces Google's address of the region: a private endpoint, a proxy. */
  readonly baseUrl?: string
}

/** The addresses of a project in a region. */
export interface Addresses {
  readonly origin: string
  /** The path of a model's method. */
  path(model: VertexModel, method: string): string
  /** The URL of a publisher's list of models. */
  list(publisher: Publisher): string
}

/** The versions that the publishers' SDKs use: @google/genai 3.1, @anthropic-ai/vertex-sdk. */
const VERSIONS: Readonly<Record<Publisher, string>> = { google: 'v1beta1', anthropic: 'v1' }

/** Multi-regions, which have hosts of their own ("Locations", docs.cloud.google.com). */
const MULTI_REGIONS = new Set(['us', 'eu'])

/** The addresses of a location. Throws an Error for an invalid `baseUrl`. */
export function addressesOf({ project, region, baseUrl = hostOf(region) }: Location): Addresses {
  const { origin, path: prefix } = parseBaseUrl(baseUrl, { endpoint: '/projects', example: hostOf(region) })
  const versioned = (version: string): string => (/\/v\d\w*$/.test(prefix) ? prefix : `${prefix}/${version}`)
  return {
    origin,
    path({ publisher, name }, method) {
      const parent = `projects/${project}/locations/${region}`
      return `${versioned(VERSIONS[publisher])}/${parent}/publishers/${publisher}/models/${name}:${method}`
    },
    // Only the beta version has the list.
    list: (publisher) => `${origin}${versioned('v1beta1')}/publishers/${publisher}/models`,
  }
}

function hostOf(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  return MULTI_REGIONS.has(region)
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`
}

/** The publisher of a model, which decides its address, its API and its parameters. */
export type Publisher = 'google' | 'anthropic'

/** A model as Vertex AI addresses it: `publishers/{publisher}/models/{name}`. */
export interface VertexModel {
  readonly publisher: Publisher
  /** `gemini-2.5-pro`, `claude-opus-4-5@20251101`. */
  readonly name: string
}

const NAME = /^(?:publishers\/)?(?:(google|anthropic)\/(?:models\/)?)?([\w-][\w.@-]*)$/

/**
 * Reads a model's name: `claude-opus-4-5@20251101`, or with its publisher before it as in Google's lists. Undefined for an invalid name
 * and for other publishers.
 */
export function readModel(model: string): VertexModel | undefined {
  const [, publisher, name] = NAME.exec(model) ?? []
  if (name === undefined) return undefined
  if (publisher === 'google' || publisher === 'anthropic') return { publisher, name }
  return { publisher: name.startsWith('claude-') ? 'anthropic' : 'google', name }
}

/** Whether a model is a Claude, by its name. */
export function isClaude(model: string): boolean {
  return readModel(model)?.publisher === 'anthropic'
}
