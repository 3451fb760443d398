import { X509Certificate } from 'node:crypto'
import { once } from 'node:events'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import tls from 'node:tls'
import type { Certificate } from '../../support/certificate.ts'
import { selfSigned } from '../../support/certificate.ts'
import { Home, type Umg } from '../lifecycle/umg.ts'

const HOST = '127.0.0.1'

/** A gateway that listens with TLS, by the files `gateway.crt` and `gateway.key` of its folder. */
export class TlsGateway {
  readonly home: Home
  readonly umg: Umg
  readonly url: string
  readonly port: number
  /** A test key. */
  readonly secret: string

  private constructor(home: Home, umg: Umg, url: string, secret: string) {
    this.home = home
    this.umg = umg
    this.url = url
    this.port = Number(new URL(url).port)
    this.secret = secret
  }

  static async start(certificate: Certificate, routes: string, ...flags: readonly string[]): Promise<TlsGateway> {
    const home = await Home.create({ 'routes.yaml': routes, ...filesOf(certificate) })
    const { umg, url } = await home.start(...TLS_FLAGS, '--drain-delay', '0', ...flags)
    const [secret] = await umg.prints(/sk-test-\w+/)
    return new TlsGateway(home, umg, url, secret!)
  }

  /** Replaces the files one after the other, as tools do that renew certificates. */
  async replace(files: Partial<Certificate>): Promise<void> {
    for (const [name, text] of Object.entries(filesOf(files))) {
      await this.home.write(`${name}.new`, text)
      await rename(join(this.home.path, `${name}.new`), join(this.home.path, name))
    }
  }

  /** How often it has logged that it uses new files. */
  get replacements(): number {
    return this.umg.stdout.split('"msg":"TLS certificate replaced"').length - 1
  }

  /** Connects, and resolves to the certificate that the gateway shows. */
  async shown(options: tls.ConnectionOptions = {}): Promise<X509Certificate> {
    const socket = tls.connect({ port: this.port, host: HOST, rejectUnauthorized: false, ...options })
    try {
      await once(socket, 'secureConnect')
      return socket.getPeerX509Certificate()!
    } finally {
      socket.destroy()
    }
  }

  async stop(): Promise<void> {
    this.umg.signal('SIGINT')
    await this.umg.ended
    await this.home.remove()
  }
}

const TLS_FLAGS = ['--tls-cert', 'gateway.crt', '--tls-key', 'gateway.key'] as const

/** The files of a certificate, by name. */
export const filesOf = ({ cert, key }: Partial<Certificate>): Record<string, string> => ({
  ...(cert !== undefined && { 'gateway.crt': cert }),
  ...(key !== undefined && { 'gateway.key': key }),
})

/** A certificate for the address that test gateways listen on. */
export const gatewayCertificate = (subject = HOST): Certificate => selfSigned({ name: HOST, subject })

export const isSame = (shown: X509Certificate, { cert }: Certificate): boolean =>
  shown.fingerprint256 === new X509Certificate(cert).fingerprint256

/** Trusts certificates in this process during the tests of a `describe`. */
export function trust(...certificates: readonly Certificate[]): void {
  const trusted = tls.getCACertificates('default')
  before(() => tls.setDefaultCACertificates([...trusted, ...certificates.map(({ cert }) => cert)]))
  after(() => tls.setDefaultCACertificates(trusted))
}
