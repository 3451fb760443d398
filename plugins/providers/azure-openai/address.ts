import { parseBaseUrl } from 'unified-model-gateway/providers/openai-compatible'

/** Where a resource's API is. */
export interface Address {
  readonly origin: string
  /** The path of chat completions; undefined for what cannot be a deployment's name. */
  chat(deployment: string): string | undefined
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
  const { origin, path } = parseBaseUrl(baseUrl)
  const base = `${path.replace(/\/openai(?:\/v1)?$/, '')}/openai`
  const scope = scopeOf(new URL(origin).hostname)
  if (apiVersion === undefined) return { origin, scope, models: `${base}/v1/models`, chat: () => `${base}/v1/chat/completions` }
  const query = `?api-version=${apiVersion}`
  return {
    origin,
    scope,
    models: `${base}/models${query}`,
    // A client may name any: what is no name must not become part of the address.
    chat: (name) => (NAME.test(name) ? `${base}/deployments/${name}/chat/completions${query}` : undefined),
  }
}

/** Clouds of their own have scopes of their own ("Azure Government", "Azure operated by 21Vianet", learn.microsoft.com). */
function scopeOf(host: string): string {
  const [, cloud = 'com'] = /\.azure\.(us|cn)$/.exec(host) ?? []
  return `https://cognitiveservices.azure.${cloud}/.default`
}
