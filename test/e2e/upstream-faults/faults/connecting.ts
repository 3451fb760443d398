import { once } from 'node:events'
import { createServer as createHttpServer, type Server as HttpServer } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { type AddressInfo, createServer as createTcpServer, type Server } from 'node:net'
import tls from 'node:tls'
import { type Certificate, daysFromNow, selfSigned } from '../../../support/certificate.ts'
import { closedOrigin } from '../../../support/closed-port.ts'
import { dnsServer } from '../../../support/dns-server.ts'
import { type Failure, TIMEOUT, UNREACHABLE } from '../failures.ts'

interface Place {
  /** What is wrong with it, to be read after "an upstream". */
  readonly name: string
  readonly failure: Failure
  /** Where its namespace says it is; what it listens with is handed over to be closed. */
  readonly origin: (listening: Listening) => string | Promise<string>
}

const expired = selfSigned({ name: 'localhost', validFrom: daysFromNow(-9), validTo: daysFromNow(-2) })
const misnamed = selfSigned({ name: 'elsewhere.example' })
const untrusted = selfSigned({ name: 'localhost' })

/** Where no upstream can be reached. */
export const PLACES: readonly Place[] = [
  { name: 'whose port is closed', failure: UNREACHABLE, origin: closedOrigin },
  { name: 'whose name does not exist', failure: UNREACHABLE, origin: () => 'http://unknown.invalid' },
  { name: 'whose name server fails', failure: UNREACHABLE, origin: () => 'http://failing.invalid' },
  { name: 'whose name server does not answer', failure: TIMEOUT, origin: () => 'http://unanswered.invalid' },
  { name: 'whose handshake never ends', failure: TIMEOUT, origin: ({ https }) => https(createTcpServer()) },
  { name: 'with an expired certificate', failure: UNREACHABLE, origin: ({ served }) => served(expired) },
  { name: 'with the certificate of another name', failure: UNREACHABLE, origin: ({ served }) => served(misnamed) },
  { name: 'with a certificate that nobody signed', failure: UNREACHABLE, origin: ({ served }) => served(untrusted) },
  { name: 'that speaks no TLS', failure: UNREACHABLE, origin: ({ https }) => https(createHttpServer()) },
]

/** The namespace at a place, by the place's index. */
export const namespaceAt = (index: number): string => `place${index}`

/** The places, while they are there. */
export interface OpenPlaces {
  readonly namespaces: Readonly<Record<string, object>>
  /** How many requests have come to any of them. */
  requests(): number
  close(): Promise<void>
}

/** Opens the places, for this process: it trusts some of their certificates, and has a name server of its own. */
export async function openPlaces(): Promise<OpenPlaces> {
  const trusted = tls.getCACertificates('default')
  const listening = new Listening()
  tls.setDefaultCACertificates([...trusted, expired.cert, misnamed.cert])
  const names = await dnsServer({ 'failing.invalid': { failure: 'SERVFAIL' }, 'unanswered.invalid': { silent: 'both' } })
  const namespaces: Record<string, object> = {}
  for (const [index, { origin, failure }] of PLACES.entries()) {
    namespaces[namespaceAt(index)] = {
      provider: 'openai-compatible',
      config: { baseUrl: `${await origin(listening)}/v1` },
      timeouts: { connect: failure === TIMEOUT ? '100ms' : '10s' },
    }
  }
  return {
    namespaces,
    requests: () => listening.requests,
    async close() {
      tls.setDefaultCACertificates(trusted)
      listening.close()
      await names.close()
    },
  }
}

/** Servers on loopback that count their requests. */
class Listening {
  readonly #servers: Server[] = []
  requests = 0

  served = (certificate: Certificate): Promise<string> => this.https(createHttpsServer(certificate))

  https = async (server: Server | HttpServer): Promise<string> => {
    this.#servers.push(server)
    server.on('request', () => {
      this.requests++
    })
    await once(server.listen(0, 'localhost'), 'listening')
    return `https://localhost:${(server.address() as AddressInfo).port}`
  }

  close(): void {
    for (const server of this.#servers) server.close()
  }
}
