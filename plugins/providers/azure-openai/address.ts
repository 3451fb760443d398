import { parseBaseUrl } from 'unified-model-gateway/plugin'

/** What a resource is asked for. */
export type Operation = 'chat/completions' | 'embeddings' | 'responses'

/** Where a resource's API is. */
export interface Address {
  readonly origin: string
  /** The path of an operation of a deployment; undefined for what cannot be a deployment's name. */
  path(operation: Operation, deployment: string): string | undefined
  /** The path of the list of what models there are: of those that could be deployed, not of those that are. */
  readonly models: string
  /** What a token of Microsoft Entra ID is to be for. */
  readonly scope: string
}

const NAME = /^[\w-][\w.-]*$/

/**
 * The address of a resource, given as the portal shows it or with a path that other tools want after it. With an `apiVersion` it is the
 * API of deployments, without one `/openai/v1`. Throws an Error where it is no address.
 */
export function addressOf(baseUrl: string, apiVersion?: string): Address {
  const { origin, path } = parseBaseUrl(baseUrl, { endpoint: '/chat/completions', example: 'https://acme.openai.azure.com' })
  const base = `${path.replace(/\/openai(?:\/v1)?$/, '')}/openai`
  const scope = scopeOf(new URL(origin).hostname)
  if (apiVersion === undefined) {
    return { origin, scope, models: `${base}/v1/models`, path: (operation) => `${base}/v1/${operation}` }
  }
  const query = `?api-version=${apiVersion}`
  return {
    origin,
    scope,
    models: `${base}/models${query}`,
    path(operation, deployment) {
      if (operation === 'responses') return `${base}/responses${query}`
      // A client may name any: what is no name must not become part of the address.
      return NAME.test(deployment) ? `${base}/deployments/${deployment}/${operation}${query}` : undefined
    },
  }
}

/** Clouds of their own have scopes of their own ("Azure Government", "Azure operated by 21Vianet", learn.microsoft.com). */
function scopeOf(host: string): string {
  const [, cloud = 'com'] = /\.azure\.(us|cn)$/.exec(host) ?? []
  return `https://cognitiveservices.azure.${cloud}/.default`
}
