import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { createSecureContext, type SecureContext } from 'node:tls'
import type { Secret } from '../sdk/api.ts'

/** The TLS settings of an upstream, in PEM. */
export interface UpstreamTls {
  /** The certificates that are trusted, instead of those that Node trusts. */
  readonly ca?: string
  /** The certificate that the upstream asks for, and then those between it and a root. */
  readonly cert?: string
  readonly key?: Secret
}

/** What connections to an upstream use. Throws an Error that says what to do if the settings do not fit together. */
export function secureContextOf({ ca, cert, key }: UpstreamTls): SecureContext {
  if (ca !== undefined) parse('ca', ca)
  if ((cert === undefined) !== (key === undefined))
    throw new Error(
      `tls.${cert === undefined ? 'key needs tls.cert, the certificate' : 'cert needs tls.key, the private key'} of the gateway`,
    )
  if (cert !== undefined && !parse('cert', cert).checkPrivateKey(parseKey(key!)))
    throw new Error('tls.key is not the key of tls.cert: give the two files that were issued together')
  return createSecureContext({
    ...(ca !== undefined && { ca }),
    ...(cert !== undefined && { cert, key: key!.reveal() }),
  })
}

function parse(field: 'ca' | 'cert', text: string): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    throw new Error(`tls.${field} holds no certificate that can be read`)
  }
}

function parseKey(key: Secret): KeyObject {
  if (/ENCRYPTED/.test(key.reveal())) throw new Error('tls.key is encrypted: decrypt it with "openssl pkey"')
  try {
    return createPrivateKey(key.reveal())
  } catch {
    throw new Error('tls.key holds no private key that can be read')
  }
}
