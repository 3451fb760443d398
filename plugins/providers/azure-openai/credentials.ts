import type { AccessToken, TokenCredential } from '@azure/identity'
import { type Attempt, type Call, GatewayError, Secret, type UpstreamHeaders } from 'unified-model-gateway/plugin'

/** Who gives a resource's requests their credential. */
export interface Credentials {
  /** For what is no call. Throws an Error for the operator where there is none. */
  headers(): Promise<UpstreamHeaders>
  /** For one try of a call: a new one where the one it had was refused. Throws `GatewayError` where there is none. */
  forCall(call: Call, attempt: Attempt): Promise<UpstreamHeaders>
}

/** A resource's key: always the same. */
export function keyCredentials(apiKey: Secret): Credentials {
  const headers = { 'api-key': apiKey }
  return { headers: async () => headers, forCall: async () => headers }
}

/** How long before its end a token is renewed, in milliseconds, where Entra does not say. */
const EARLY = 300_000

/** A token of Microsoft Entra ID, and when to ask for the next one. */
interface HeldToken {
  readonly asked: Promise<AccessToken>
  renewAt: number
}

/**
 * Tokens of Microsoft Entra ID for one scope: kept until shortly before they expire, for some of the library's sources, such as the
 * Azure CLI, begin a process for each.
 */
export class EntraCredentials implements Credentials {
  readonly #scope: string
  readonly #open: () => Promise<TokenCredential>
  #source: Promise<TokenCredential> | undefined
  #held: HeldToken | undefined
  /** The token each call was given: one that is refused may have been replaced for another call since. */
  readonly #given = new WeakMap<Call, string>()

  /** `open` gives a source that has cached nothing yet. */
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
    if (credentialRefused && token === this.#given.get(call)) {
      this.#source = undefined
      this.#held = undefined
      token = (await this.#token()).token
    }
    this.#given.set(call, token)
    return toHeaders(token)
  }

  /** The token that is held, or a new one: calls that want one at once ask together. */
  async #token(): Promise<AccessToken> {
    if (this.#held && Date.now() < this.#held.renewAt) return this.#held.asked
    const held: HeldToken = { asked: this.#ask(), renewAt: Number.POSITIVE_INFINITY }
    this.#held = held
    try {
      const token = await held.asked
      held.renewAt = token.refreshAfterTimestamp ?? token.expiresOnTimestamp - EARLY
      return token
    } catch (error) {
      if (this.#held === held) this.#held = undefined
      throw toGatewayError(error)
    }
  }

  async #ask(): Promise<AccessToken> {
    this.#source ??= this.#open()
    const token = await (await this.#source).getToken(this.#scope)
    if (token === null) throw new Error('no source of credentials has a token')
    return token
  }
}

/** Loaded when first needed: a resource with a key needs none of it. */
async function defaultSource(): Promise<TokenCredential> {
  const { DefaultAzureCredential } = await import('@azure/identity')
  return new DefaultAzureCredential()
}

const toHeaders = (token: string): UpstreamHeaders => ({ authorization: new Secret(`Bearer ${token}`) })

/** What the library throws, as far as it is looked at: of several sources that failed, all their errors. */
interface Thrown {
  readonly errors?: readonly Thrown[]
  readonly statusCode?: unknown
  readonly errorResponse?: { readonly error?: unknown }
}

/** Its words quote tenants and addresses: of them only Entra's code or the status goes on. */
function toGatewayError(thrown: unknown): GatewayError {
  const { errors = [], ...first } = thrown as Thrown
  const told = [first, ...errors].find(({ statusCode }) => typeof statusCode === 'number')
  const code = toCode(told?.errorResponse?.error) ?? (told ? `HTTP_${told.statusCode}` : 'NO_CREDENTIALS')
  const cause = Object.assign(new Error(`Microsoft Entra ID gave no token: ${code}; check the credentials, or set apiKey`), {
    code,
  })
  const isBusy = told !== undefined && (told.statusCode === 429 || Number(told.statusCode) >= 500)
  return new GatewayError(isBusy ? 'upstream_overloaded' : 'upstream_authentication_error', { cause })
}

/** `INVALID_CLIENT` for `invalid_client`: the log writes codes of this form. */
function toCode(word: unknown): string | undefined {
  return typeof word === 'string' && /^\w{2,40}$/.test(word) ? word.toUpperCase() : undefined
}
