import { GoogleAuth, JWT } from 'google-auth-library'
import {
  type Attempt,
  type Call,
  errorCode,
  GatewayError,
  InvalidConfig,
  parseRecord,
  Secret,
  type UpstreamHeaders,
} from 'unified-model-gateway/plugin'

const SCOPES = ['https://www.googleapis.com/auth/cloud-platform']

/** A source of tokens in google-auth-library, which renews them before they expire. */
interface TokenSource {
  getRequestHeaders(): Promise<Headers>
}

/**
 * Google's credentials: the key of a service account, or else the application default credentials (GOOGLE_APPLICATION_CREDENTIALS,
 * gcloud's file, the metadata server).
 */
export class GoogleCredentials {
  readonly #open: () => TokenSource
  #source: TokenSource
  /** The `authorization` header of each call: after a refusal, another call may have replaced the token already. */
  readonly #sent = new WeakMap<Call, string | null>()

  /** Throws an Error that tells the operator what to correct. */
  constructor(project: string, key: Secret | undefined) {
    const account = key && readKey(key)
    // Without a project the library would run gcloud to find one.
    this.#open = () =>
      account ? new JWT({ ...account, scopes: SCOPES }) : new GoogleAuth({ projectId: project, scopes: SCOPES })
    this.#source = this.#open()
  }

  /** Headers for a request without a call, such as discovery. Throws an Error for the operator if Google gives no token. */
  async headers(): Promise<UpstreamHeaders> {
    const headers = await this.#request().catch((error: GatewayError) => {
      throw error.cause
    })
    return toHeaders(headers)
  }

  /** Headers for one attempt of a call: new ones if the last ones were refused. Throws `GatewayError` if Google gives no token. */
  async forCall(call: Call, { credentialRefused }: Attempt): Promise<UpstreamHeaders> {
    let headers = await this.#request()
    if (credentialRefused && headers.get('authorization') === this.#sent.get(call)) {
      this.#source = this.#open()
      headers = await this.#request()
    }
    this.#sent.set(call, headers.get('authorization'))
    return toHeaders(headers)
  }

  #request(): Promise<Headers> {
    return this.#source.getRequestHeaders().catch((error: unknown) => {
      throw toGatewayError(error)
    })
  }
}

/** Reads the key of a service account. A key of another kind is configured by its file, in GOOGLE_APPLICATION_CREDENTIALS. */
function readKey(key: Secret): { readonly email: string; readonly key: string; readonly keyId?: string } {
  const { type, client_email: email, private_key: pem, private_key_id: keyId } = parseRecord(key.reveal()) ?? {}
  if (type === 'service_account' && typeof email === 'string' && typeof pem === 'string') {
    return { email, key: pem, ...(typeof keyId === 'string' && { keyId }) }
  }
  throw new InvalidConfig({
    path: ['credentials'],
    message:
      'is not the JSON key of a service account; give the content of its file. For credentials of another kind omit ' +
      'this, and name their file in GOOGLE_APPLICATION_CREDENTIALS.',
  })
}

function toHeaders(headers: Headers): UpstreamHeaders {
  return Object.fromEntries([...headers].map(([name, value]) => [name, name === 'authorization' ? new Secret(value) : value]))
}

/** The library's errors quote tokens and keys: only Google's error word, the status or the code is passed on. */
function toGatewayError(thrown: unknown): GatewayError {
  const { status, code, response } = thrown as { status?: unknown; code?: unknown; response?: { data?: { error?: unknown } } }
  const words = [response?.data?.error, typeof status === 'number' ? `HTTP_${status}` : code]
  const reason = words.map(errorCode).find(Boolean) ?? 'NO_CREDENTIALS'
  const cause = Object.assign(new Error(`Google gave no access token: ${reason}; check the credentials`), { code: reason })
  if (typeof status !== 'number') {
    return new GatewayError(typeof code === 'string' ? 'upstream_unreachable' : 'upstream_authentication_error', { cause })
  }
  return new GatewayError(status === 429 || status >= 500 ? 'upstream_overloaded' : 'upstream_authentication_error', { cause })
}
