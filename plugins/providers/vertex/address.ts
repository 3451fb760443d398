import { parseBaseUrl } from 'unified-model-gateway/plugin'
import type { Publisher, VertexModel } from './model-name.ts'

/** Where Vertex AI is. */
export interface Location {
  readonly project: string
  /** `us-east5`, `eu`, `global`. */
  readonly region: string
  /** Another address than Google's for the region: a private endpoint, a proxy. */
  readonly baseUrl?: string
}

/** The addresses of a project in a region. */
export interface Addresses {
  readonly origin: string
  /** The path of a model's method. */
  path(model: VertexModel, method: string): string
  /** Where a publisher's models are listed. */
  list(publisher: Publisher): string
}

/** What each publisher's own SDK asks for: @google/genai 3.1, @anthropic-ai/vertex-sdk. */
const VERSIONS: Readonly<Record<Publisher, string>> = { google: 'v1beta1', anthropic: 'v1' }

/** Regions of several regions have hosts of their own ("Locations", docs.cloud.google.com). */
const MULTI_REGIONS = new Set(['us', 'eu'])

/** The addresses. Throws an Error where `baseUrl` is none. */
export function addressesOf({ project, region, baseUrl = hostOf(region) }: Location): Addresses {
  const { origin, path: prefix } = parseBaseUrl(baseUrl, { endpoint: '/projects', example: hostOf(region) })
  const versioned = (version: string): string => (/\/v\d\w*$/.test(prefix) ? prefix : `${prefix}/${version}`)
  return {
    origin,
    path({ publisher, name }, method) {
      const parent = `projects/${project}/locations/${region}`
      return `${versioned(VERSIONS[publisher])}/${parent}/publishers/${publisher}/models/${name}:${method}`
    },
    // Only the beta has the list.
    list: (publisher) => `${origin}${versioned('v1beta1')}/publishers/${publisher}/models`,
  }
}

function hostOf(region: string): string {
  if (region === 'global') return 'https://aiplatform.googleapis.com'
  return MULTI_REGIONS.has(region)
    ? `https://aiplatform.${region}.rep.googleapis.com`
    : `https://${region}-aiplatform.googleapis.com`
}
