import { bearer, GatewayError, InvalidConfig, type Secret, type UpstreamHeaders } from 'unified-model-gateway/plugin'
import { type AwsIdentity, createSigner, type Unsigned } from './signature.ts'

/** The credentials in a configuration. Without any, those that AWS's own tools would find. */
export interface Credentials {
  readonly apiKey?: Secret
  readonly accessKeyId?: Secret
  readonly secretAccessKey?: Secret
  readonly sessionToken?: Secret
}

/** Authenticates requests to Bedrock. */
export interface Authenticator {
  /** The authentication headers of a request. `refresh`: the identity used before was refused. Rejects with `GatewayError` without one. */
  headersFor(request: Unsigned, refresh?: boolean): Promise<UpstreamHeaders>
  /** Whether an identity can be refreshed. */
  readonly refreshes: boolean
}

/** The authenticator of a configuration. Throws an InvalidConfig. */
export function createAuthenticator(credentials: Credentials, region: string): Authenticator {
  const { apiKey, accessKeyId, secretAccessKey, sessionToken } = credentials
  if (apiKey) {
    const other = accessKeyId ? 'accessKeyId' : secretAccessKey && 'secretAccessKey'
    if (other) throw invalid(other, 'excludes apiKey: keep one of them')
    const authorization = bearer(apiKey)
    return { headersFor: async () => ({ authorization }), refreshes: false }
  }
  if (!accessKeyId !== !secretAccessKey) {
    const [given, missing] = accessKeyId ? ['accessKeyId', 'secretAccessKey'] : ['secretAccessKey', 'accessKeyId']
    throw invalid(given!, `needs ${missing}: give both or neither`)
  }
  if (!accessKeyId || !secretAccessKey) {
    if (sessionToken) throw invalid('sessionToken', 'belongs to accessKeyId and secretAccessKey: give all three')
    return fromProviderChain(region)
  }
  const identity = {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken && { sessionToken: sessionToken.reveal() }),
  }
  return { headersFor: createSigner(region, async () => identity), refreshes: false }
}

const invalid = (field: string, message: string): InvalidConfig => new InvalidConfig({ path: [field], message })

/**
 * Takes the identity from where AWS's own tools take it: the environment, the shared files, web identity, the container, the instance.
 * Keeps it until it expires.
 */
function fromProviderChain(region: string): Authenticator {
  let chain: Promise<(options?: { readonly forceRefresh?: boolean }) => Promise<AwsIdentity>> | undefined
  const identity = async (options?: { readonly forceRefresh: boolean }): Promise<AwsIdentity> => {
    // Loaded on first use: large, and not needed with configured keys.
    chain ??= import('@aws-sdk/credential-providers').then(({ fromNodeProviderChain }) => fromNodeProviderChain())
    const find = await chain
    return find(options).catch((cause: unknown) => {
      throw new GatewayError('upstream_authentication_error', { cause })
    })
  }
  const sign = createSigner(region, () => identity())
  return {
    async headersFor(request, refresh = false) {
      if (refresh) await identity({ forceRefresh: true })
      return sign(request)
    },
    refreshes: true,
  }
}
