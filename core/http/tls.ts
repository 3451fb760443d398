import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { createSecureContext, type SecureContext, TLSSocket } from 'node:tls'
import { replaceConnections } from '../internals.ts'
import type { Certificate } from './certificate.ts'

/** SDKs speak HTTP/1.1; so does the gateway. */
const ALPN = ['http/1.1']

/**
 * With forward secrecy and authenticated encryption only, as Mozilla's "intermediate" (version 5.7, 2023) without DHE: TLS 1.2 has suites
 * with CBC and SHA-1 too, which every client of the last ten years can do without.
 */
const CIPHERS = [
  'TLS_AES_128_GCM_SHA256',
  'TLS_AES_256_GCM_SHA384',
  'TLS_CHACHA20_POLY1305_SHA256',
  'ECDHE-ECDSA-AES128-GCM-SHA256',
  'ECDHE-RSA-AES128-GCM-SHA256',
  'ECDHE-ECDSA-AES256-GCM-SHA384',
  'ECDHE-RSA-AES256-GCM-SHA384',
  'ECDHE-ECDSA-CHACHA20-POLY1305',
  'ECDHE-RSA-CHACHA20-POLY1305',
].join(':')

/** Ends TLS on the connections of clients, from TLS 1.2 on, with the certificate that it was given last. */
export class TlsTermination {
  #context: SecureContext | undefined

  /** New connections get this certificate. Those that are open keep theirs. */
  use({ cert, key }: Certificate): void {
    this.#context = createSecureContext({ cert, key, minVersion: 'TLSv1.2', ciphers: CIPHERS })
  }

  /** The other end of a connection, decrypted. */
  secure(socket: Socket): Socket {
    return new TLSSocket(socket, { isServer: true, secureContext: this.#context, ALPNProtocols: ALPN })
  }
}

/**
 * Lets a server get its connections decrypted. Unlike with `https.Server`, a connection is the server's from its first byte on: limits on
 * connections, and on the time for a request's head, hold for the handshake too.
 */
export function serveTls(server: Server, tls: TlsTermination): void {
  replaceConnections(server, (socket) => tls.secure(socket))
}

/** Tells browsers to use https alone for a year (RFC 6797). Only a reply by TLS may have it. */
export const STRICT_TRANSPORT: readonly [name: string, value: string] = ['strict-transport-security', 'max-age=31536000']

/** Whether nothing can be written yet, because the client has not ended the handshake. */
export function isInHandshake(socket: Socket): boolean {
  return socket instanceof TLSSocket && socket.getPeerFinished() === undefined
}
