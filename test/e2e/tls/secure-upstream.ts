import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import type { TLSSocket } from 'node:tls'
import type { Certificate } from '../../support/certificate.ts'
import { openai } from '../sdk/openai-dialect.ts'

/** An https upstream that speaks OpenAI's protocol. */
export interface SecureUpstream {
  readonly port: number
  /** The common name of each request's client certificate; empty without one. */
  readonly clients: readonly string[]
  close(): Promise<void>
}

/** Starts one. `clients`: the certificate that it demands of clients. */
export async function secureUpstream(certificate: Certificate, clients?: Certificate): Promise<SecureUpstream> {
  const seen: string[] = []
  const options = { ...certificate, ...(clients && { requestCert: true, rejectUnauthorized: true, ca: clients.cert }) }
  const server = createServer(options, (request, response) => {
    seen.push(String((request.socket as TLSSocket).getPeerCertificate()?.subject?.CN ?? ''))
    response.setHeader('content-type', 'application/json')
    response.end(JSON.stringify(request.method === 'GET' ? MODELS : openai.whole({ text: ['Hello'] })))
  })
  server.on('tlsClientError', () => undefined)
  await once(server.listen(0, '127.0.0.1'), 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    clients: seen,
    async close() {
      server.closeAllConnections()
      await once(server.close(), 'close')
    },
  }
}

const MODELS = { object: 'list', data: [{ id: 'found', object: 'model' }] }
