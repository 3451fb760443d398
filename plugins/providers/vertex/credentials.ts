import { GoogleAuth, JWT } from 'google-auth-library'
import { type Attempt, type Call, GatewayError, parseRecord, Secret, type UpstreamHeaders } from 'unified-model-gateway/plugin'

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform']

/** Whatever of google-auth-library gives tokens, and renews them before they expire. */
interface TokenSource {
  getRequestHeaders(): Promise<Headers>
}

/**
 * Google's credentials: those of a service account's key, or else the application default ones (GOOGLE_APPLICATION_CREDENTIALS,
 * gcloud's file, the metadata server).
 */
export class GoogleCredentials {
  readonly #open: () => TokenSource
  #source: TokenSource
  /** The headers each call was given: one that is refused may have been replaced for another call since. */
  readonly #given = new WeakMap<Call, string | null>()

  /** Throws an Error that tells the operator what to mend. */
  constructor(project: string, key: Secret | undefined) {
    const account = key && readKey(key)
    // With the project given, the library does not look for one: it would ask gcloud.
    this.#open = () =>
      account ? new JWT({ ...account, scopes: SCOPES }) : new GoogleAuth({ projectId: project, scopes: SCOPES })
    this.#source = this.#open()
  }

  /** For what is no call: a list of models. Throws an Error for the operator where Google gives none. */
  async headers(): Promise<UpstreamHeaders> {
    const headers = await this.#ask().catch((error: GatewayError) => {
      throw error.cause
    })
    return toHeaders(headers)
  }

  /** For one try of a call: new ones where the ones it had were refused. Throws `GatewayError` where Google gives none. */
  async forCall(call: Call, { credentialRefused }: Attempt): Promise<UpstreamHeaders> {
    let headers = await this.#ask()
    if (credentialRefused && headers.get('authorization') === this.#given.get(call)) {
      this.#source = this.#open()
      headers = await this.#ask()
    }
    this.#given.set(call, headers.get('authorization'))
    return toHeaders(headers)
  }

  #ask(): Promise<Headers> {
    return this.#source.getRequestHeaders().catch((error: unknown) => {
      throw toGatewayError(error)
    })
  }
}

/** Who the service account is. A key of another kind is configured by its file, in GOOGLE_APPLICATION_CREDENTIALS. */
function readKey(key: Secret): { readonly email: string; readonly key: string; readonly keyId?: string } {
  const { type, client_email: email, private_key: pem, private_key_id: keyId } = parseRecord(key.reveal()) ?? {}
  if (type === 'service_account' && typeof email === 'string' && typeof pem === 'string') {
    return { email, key: pem, ...(typeof keyId === 'string' && { keyId }) }
  }
  throw new Error(
    'credentials: not the JSON key of a service account; give the content of its file. Credentials of another kind: leave this ' +
      'out, and name their file in GOOGLE_APPLICATION_CREDENTIALS.',
  )
}

function toHeaders(headers: Headers): UpstreamHeaders {
  return Object.fromEntries([...headers].map(([name, value]) => [name, name === 'authorization' ? new Secret(value) : value]))
}

/** What the library throws quotes tokens and keys: of it only Google's word, the status or the code goes on. */
function toGatewayError(thrown: unknown): GatewayError {
  const { status, code, response } = thrown as { status?: unknown; code?: unknown; response?: { data?: { error?: unknown } } }
  const words = [response?.data?.error, typeof status === 'number' ? `HTTP_${status}` : code]
  const told = words.map(toCode).find(Boolean) ?? 'NO_CREDENTIALS'
  const cause = Object.assign(new Error(`Google gave no access token: ${told}; check the credentials`), { code: told })
  if (typeof status !== 'number') {
    return new GatewayError(typeof code === 'string' ? 'upstream_unreachable' : 'upstream_authentication_error', { cause })
  }
  return new GatewayError(status === 429 || status >= 500 ? 'upstream_overloaded' : 'upstream_authentication_error', { cause })
}

/** `INVALID_GRANT` for `invalid_grant`: the log writes codes of this form. */
function toCode(word: unknown): string | undefined {
  return typeof word === 'string' && /^\w{2,40}$/.test(word) ? word.toUpperCase() : undefined
}
