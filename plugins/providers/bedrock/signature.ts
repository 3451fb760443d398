import { createHash, createHmac, type Hash, type Hmac } from 'node:crypto'
import { SignatureV4 } from '@smithy/signature-v4'
import { Secret, type UpstreamHeaders } from 'unified-model-gateway/plugin'

/** An AWS identity. `sessionToken`: of a temporary identity. */
export interface AwsIdentity {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string
}

/** A request without its signature. */
export interface Unsigned {
  readonly method: 'GET' | 'POST'
  readonly origin: string
  /** Percent-encoded. The signature covers it encoded once more, as for all AWS services but S3. */
  readonly path: string
  readonly query?: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string>>
  readonly body?: Uint8Array
}

const CONFIDENTIAL: ReadonlySet<string> = new Set(['authorization', 'x-amz-security-token'])

/** Signs requests to Bedrock by AWS Signature Version 4. Rejects without an identity. */
export function createSigner(
  region: string,
  identity: () => Promise<AwsIdentity>,
): (request: Unsigned) => Promise<UpstreamHeaders> {
  const signer = new SignatureV4({ service: 'bedrock', region, credentials: identity, sha256: Sha256 })
  return async function sign({ method, origin, path, query = {}, headers, body }) {
    const { protocol, hostname, host } = new URL(origin)
    // AWS requires a signature over its own headers; a proxy may change the others.
    const covered = Object.entries(headers).filter(([name]) => name === 'content-type' || /^x-amzn?-/.test(name))
    const request = { method, protocol, hostname, path, query, headers: { ...Object.fromEntries(covered), host }, body }
    const { host: _, ...signed } = (await signer.sign(request)).headers
    return Object.fromEntries(
      Object.entries(signed).map(([name, value]) => [name, CONFIDENTIAL.has(name) ? new Secret(value) : value]),
    )
  }
}

type Data = string | ArrayBuffer | ArrayBufferView

/** SHA-256 with the signer's interface; with a secret, HMAC. */
class Sha256 {
  readonly #hash: Hash | Hmac

  constructor(secret?: Data) {
    this.#hash = secret === undefined ? createHash('sha256') : createHmac('sha256', viewOf(secret))
  }

  update(data: Data): void {
    this.#hash.update(viewOf(data))
  }

  async digest(): Promise<Uint8Array> {
    return this.#hash.digest()
  }
}

function viewOf(data: Data): string | NodeJS.ArrayBufferView {
  return data instanceof ArrayBuffer ? new Uint8Array(data) : (data as string | NodeJS.ArrayBufferView)
}
