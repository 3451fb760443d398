import { parseBaseUrl } from 'unified-model-gateway/plugin'
import type { ENDPOINT_PATHS } from '../openai-compatible/endpoints.ts'

/**
 * The endpoints of a resource other than chat completions (Azure OpenAI's REST API reference, learn.microsoft.com). It does not count the tokens of
 * prompts: 404 "Unknown request URL: POST /v1/responses/input_tokens" (learn.microsoft.com/answers/questions/5889782, 2026-05-13).
 */
export const ENDPOINTS = [
  'completions',
  'embeddings',
  'responses',
  'responses.compact',
  'images.generations',
  'images.edits',
  'audio.speech',
  'audio.transcriptions',
  'audio.translations',
] as const

/** An operation of a resource: the end of its path. */
export type Operation = '/chat/completions' | (typeof ENDPOINT_PATHS)[(typeof ENDPOINTS)[number]]

/** The addresses of a resource. */
export interface Address {
  readonly origin: string
  /** Whether it has `/responses/compact`, which only `/openai/v1` does (learn.microsoft.com/azure/foundry/reference/rest/compactconversation, 2026-11). */
  readonly compacts: boolean
  /** The path of an operation of a deployment; undefined for an invalid name of a deployment. */
  path(operation: Operation, deployment: string): string | undefined
  /** The path of the list of models: of those that can be deployed, not of the deployments. */
  readonly models: string
  /** The scope of tokens of Microsoft Entra ID. */
  readonly scope: string
}

const NAME = /^[\w-][\w.-]*$/

/**
 * The addresses of a resource. `baseUrl`: as the portal shows it, or with a path that other tools expect. With an `apiVersion` they are
 * those of the API of deployments, without one those of `/openai/v1`. Throws an Error for an invalid `baseUrl`.
 */
export function addressOf(baseUrl: string, apiVersion?: string): Address {
  const { origin, path } = parseBaseUrl(baseUrl, {
    endpoint: '/chat/completions',
    omit: /\/openai(?:\/v1)?$/,
    example: 'https://acme.openai.azure.com',
  })
  const base = `${path}/openai`
  const scope = scopeOf(new URL(origin).hostname)
  if (apiVersion === undefined) {
    return { origin, scope, compacts: true, models: `${base}/v1/models`, path: (operation) => `${base}/v1${operation}` }
  }
  const query = `?api-version=${apiVersion}`
  return {
    origin,
    scope,
    compacts: false,
    models: `${base}/models${query}`,
    path(operation, deployment) {
      if (operation === '/responses') return `${base}/responses${query}`
      // Clients may send any name: an invalid one could change the address.
      return NAME.test(deployment) ? `${base}/deployments/${deployment}${operation}${query}` : undefined
    },
  }
}

/** The scope of the resource's cloud ("Azure Government", "Azure operated by 21Vianet", learn.microsoft.com). */
function scopeOf(host: string): string {
  const [, cloud = 'com'] = /\.azure\.(us|cn)$/.exec(host) ?? []
  return `https://cognitiveservices.azure.${cloud}/.default`
}
