import { createPrivateKey, type KeyObject, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { FileWatch } from '../config/watch.ts'
import type { Log } from '../observe/log.ts'

/** The paths of the gateway's certificate. */
export interface CertificateFiles {
  /** PEM: its certificate, and then those between it and a root. */
  readonly cert: string
  /** PEM: its private key. */
  readonly key: string
}

/** A certificate with its chain, and its private key, in PEM. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** The files of the certificate cannot be used. The message says what to do. */
export class CertificateError extends Error {
  override readonly name = 'CertificateError'
}

/** The certificate in these files. Throws a CertificateError. */
export function readCertificate(files: CertificateFiles): Certificate {
  const cert = readText(files.cert, '--tls-cert')
  const key = readText(files.key, '--tls-key')
  const certificate = parseCertificate(cert, files)
  if (!certificate.checkPrivateKey(parseKey(key, files)))
    throw new CertificateError(
      `The key in ${files.key} is not that of the certificate in ${files.cert}: give the two files that were issued together.`,
    )
  return { cert, key }
}

function readText(path: string, flag: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    const advice = code === 'EACCES' ? 'let the user of the gateway read it' : `name an existing file with ${flag}`
    throw new CertificateError(`${path} cannot be read (${code}): ${advice}.`)
  }
}

function parseCertificate(text: string, { cert, key }: CertificateFiles): X509Certificate {
  try {
    return new X509Certificate(text)
  } catch {
    const advice = text.includes('PRIVATE KEY-----')
      ? `it holds a private key, which belongs in ${key}`
      : 'it must begin with -----BEGIN CERTIFICATE-----'
    throw new CertificateError(`${cert} holds no certificate in PEM: ${advice}.`)
  }
}

function parseKey(text: string, { key }: CertificateFiles): KeyObject {
  if (/ENCRYPTED/.test(text))
    throw new CertificateError(`The key in ${key} is encrypted: decrypt it with "openssl pkey -in ${key} -out key.pem".`)
  try {
    return createPrivateKey(text)
  } catch {
    throw new CertificateError(`${key} holds no private key in PEM: it must begin with -----BEGIN PRIVATE KEY----- or the like.`)
  }
}

/** Follows the files of a certificate: what it has is always one that can be used. */
export class CertificateWatch {
  readonly #files: CertificateFiles
  readonly #log: Log
  readonly #watch: FileWatch
  #current: Certificate
  #onChanged: (certificate: Certificate) => void = () => undefined
  #problem = ''

  /** Reads the files, and follows them. Throws a CertificateError. */
  constructor({ cert, key }: CertificateFiles, log: Log) {
    this.#files = { cert: resolve(cert), key: resolve(key) }
    this.#log = log
    this.#current = readCertificate({ cert, key })
    this.#watch = new FileWatch(() => this.check())
    this.#watch.follow([this.#files.cert, this.#files.key])
    this.#report('TLS certificate in use')
  }

  /** The one in use. */
  get current(): Certificate {
    return this.#current
  }

  /** Calls `use` with the certificate, now and when it changes. */
  follow(use: (certificate: Certificate) => void): void {
    this.#onChanged = use
    use(this.#current)
  }

  /** Reads the files again. While they cannot be used, as between the replacements of the two, the certificate stays. */
  check(): void {
    this.#watch.follow([this.#files.cert, this.#files.key])
    try {
      const { cert, key } = readCertificate(this.#files)
      this.#problem = ''
      if (cert === this.#current.cert && key === this.#current.key) return
      this.#current = { cert, key }
      this.#report('TLS certificate replaced')
      this.#onChanged(this.#current)
    } catch (error) {
      if (!(error instanceof CertificateError)) throw error
      if (error.message === this.#problem) return
      this.#problem = error.message
      this.#log.error({ problem: error.message }, 'the new TLS certificate cannot be used: the previous one stays in use')
    }
  }

  close(): void {
    this.#watch.close()
  }

  #report(message: string): void {
    const { subject, subjectAltName, validToDate } = new X509Certificate(this.#current.cert)
    const fields = { names: subjectAltName ?? subject, expires: validToDate.toISOString() }
    if (validToDate.getTime() < Date.now()) this.#log.warn(fields, `${message}, but it has expired: clients will refuse it`)
    else this.#log.info(fields, message)
  }
}
