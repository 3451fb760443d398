import { bearer, GatewayError, type Secret, type UpstreamHeaders } from 'unified-model-gateway/plugin'
import { type AwsIdentity, createSigner, type Unsigned } from './signature.ts'

/** The credentials of a configuration. None: those that AWS's own tools would find. */
export interface Credentials {
  readonly apiKey?: Secret
  readonly accessKeyId?: Secret
  readonly secretAccessKey?: Secret
  readonly sessionToken?: Secret
}

/** Proves to Bedrock who sends a request. */
export interface Authority {
  /** The headers that prove it. `refresh`: the identity used before was refused. Rejects with `GatewayError` where there is none. */
  prove(request: Unsigned, refresh?: boolean): Promise<UpstreamHeaders>
  /** Whether there may be a new identity to be had. */
  readonly refreshes: boolean
}

/** The authority of a configuration. Throws an Error that tells the operator what to mend. */
export function createAuthority(credentials: Credentials, region: string): Authority {
  const { apiKey, accessKeyId, secretAccessKey, sessionToken } = credentials
  if (apiKey) {
    if (accessKeyId || secretAccessKey) throw new Error('apiKey and accessKeyId exclude each other: keep one of them')
    const authorization = bearer(apiKey)
    return { prove: async () => ({ authorization }), refreshes: false }
  }
  if (!accessKeyId !== !secretAccessKey) throw new Error('accessKeyId and secretAccessKey go together: give both or neither')
  if (!accessKeyId || !secretAccessKey) {
    if (sessionToken) throw new Error('sessionToken belongs to accessKeyId and secretAccessKey: give all three')
    return byChain(region)
  }
  const identity = {
    accessKeyId: accessKeyId.reveal(),
    secretAccessKey: secretAccessKey.reveal(),
    ...(sessionToken && { sessionToken: sessionToken.reveal() }),
  }
  return { prove: createSigner(region, async () => identity), refreshes: false }
}

/**
 * Looks where AWS's own tools look: the environment, the shared files, web identity, the container, the instance. Keeps what it finds
 * until it expires.
 */
function byChain(region: string): Authority {
  let chain: Promise<(options?: { readonly forceRefresh?: boolean }) => Promise<AwsIdentity>> | undefined
  const identity = async (options?: { readonly forceRefresh: boolean }): Promise<AwsIdentity> => {
    // Large, and of no use to who has keys of their own.
    chain ??= import('@aws-sdk/credential-providers').then(({ fromNodeProviderChain }) => fromNodeProviderChain())
    const find = await chain
    return find(options).catch((cause: unknown) => {
      throw new GatewayError('upstream_authentication_error', { cause })
    })
  }
  const sign = createSigner(region, () => identity())
  return {
    async prove(request, refresh = false) {
      if (refresh) await identity({ forceRefresh: true })
      return sign(request)
    },
    refreshes: true,
  }
}
