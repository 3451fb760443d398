import type { AccessToken, TokenCredential } from '@azure/identity'
import { type Attempt, type Call, errorCode, GatewayError, Secret, type UpstreamHeaders } from 'unified-model-gateway/plugin'

/** The source of a resource's credential. */
export interface Credentials {
  /** Headers for a request without a call. Throws an Error for the operator if there is no credential. */
  headers(): Promise<UpstreamHeaders>
  /** Headers for one attempt of a call: new ones if the last ones were refused. Throws `GatewayError` if there is no credential. */
  forCall(call: Call, attempt: Attempt): Promise<UpstreamHeaders>
}

/** The credentials of a resource's key. */
export function keyCredentials(apiKey: Secret): Credentials {
  const headers = { 'api-key': apiKey }
  return { headers: async () => headers, forCall: async () => headers }
}

/** Milliseconds before its expiry at which a token is renewed, if Entra does not say. */
const RENEW_EARLY = 300_000

/** A token of Microsoft Entra ID, and the time of its renewal. */
interface HeldToken {
  readonly token: Promise<AccessToken>
  renewAt: number
}

/**
 * Tokens of Microsoft Entra ID for one scope. A token is kept until shortly before it expires: some of the library's sources, such as the
 * Azure CLI, start a process for each.
 */
export class EntraCredentials implements Credentials {
  readonly #scope: string
  readonly #open: () => Promise<TokenCredential>
  #source: Promise<TokenCredential> | undefined
  #held: HeldToken | undefined
  /** The token of each call: after a refusal, another call may have replaced it already. */
  readonly #sent = new WeakMap<Call, string>()

  /** `open`: creates a source with an empty cache. */
  constructor(scope: string, open: () => Promise<TokenCredential> = defaultSource) {
    this.#scope = scope
    this.#open = open
  }

  async headers(): Promise<UpstreamHeaders> {
    const { token } = await this.#token().catch((error: GatewayError) => {
      throw error.cause
    })
    return toHeaders(token)
  }

  async forCall(call: Call, { credentialRefused }: Attempt): Promise<UpstreamHeaders> {
    let { token } = await this.#token()
    if (credentialRefused && token === this.#sent.get(call)) {
      this.#source = undefined
      this.#held = undefined
      token = (await this.#token()).token
    }
    this.#sent.set(call, token)
    return toHeaders(token)
  }

  /** The current token, or a new one: concurrent calls share one request. */
  async #token(): Promise<AccessToken> {
    if (this.#held === undefined || Date.now() >= this.#held.renewAt)
      this.#held = { token: this.#request(), renewAt: Number.POSITIVE_INFINITY }
    const held = this.#held
    try {
      const token = await held.token
      held.renewAt = token.refreshAfterTimestamp ?? token.expiresOnTimestamp - RENEW_EARLY
      return token
    } catch (error) {
      if (this.#held === held) this.#held = undefined
      throw toGatewayError(error)
    }
  }

  async #request(): Promise<AccessToken> {
    this.#source ??= this.#open()
    const token = await (await this.#source).getToken(this.#scope)
    if (token === null) throw new Error('no source of credentials has a token')
    return token
  }
}

/** Loaded on first use: not needed with a resource's key. */
async function defaultSource(): Promise<TokenCredential> {
  const { DefaultAzureCredential } = await import('@azure/identity')
  return new DefaultAzureCredential()
}

const toHeaders = (token: string): UpstreamHeaders => ({ authorization: new Secret(`Bearer ${token}`) })

/** The library's error; if several sources failed, with all their errors. */
interface Thrown {
  readonly errors?: readonly Thrown[]
  readonly statusCode?: unknown
  readonly errorResponse?: { readonly error?: unknown }
}

/** The library's messages quote tenants and addresses: only Entra's code or the status is passed on. */
function toGatewayError(thrown: unknown): GatewayError {
  const { errors = [], ...first } = thrown as Thrown
  const answer = [first, ...errors].find(({ statusCode }) => typeof statusCode === 'number')
  const code = errorCode(answer?.errorResponse?.error) ?? (answer ? `HTTP_${answer.statusCode}` : 'NO_CREDENTIALS')
  const cause = Object.assign(new Error(`Microsoft Entra ID gave no token: ${code}; check the credentials, or set apiKey`), {
    code,
  })
  const isBusy = answer !== undefined && (answer.statusCode === 429 || Number(answer.statusCode) >= 500)
  return new GatewayError(isBusy ? 'upstream_overloaded' : 'upstream_authentication_error', { cause })
}
