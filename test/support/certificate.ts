import { generateKeyPairSync, sign } from 'node:crypto'
import { isIPv4 } from 'node:net'

/** A self-signed certificate and its key, as `tls.createServer` takes them. */
export interface Certificate {
  readonly cert: string
  readonly key: string
}

/** Contents of a certificate. */
export interface CertificateOptions {
  /** The host name, or an IPv4 address. */
  readonly name: string
  /** Default: `name`. Verifiers find the certificate of an issuer by its subject: two that are trusted need two. */
  readonly subject?: string
  /** Default: from yesterday until tomorrow. */
  readonly validFrom?: Date
  readonly validTo?: Date
}

const DAY_MS = 24 * 60 * 60 * 1000
export const daysFromNow = (days: number): Date => new Date(Date.now() + days * DAY_MS)

/** Creates a certificate (RFC 5280, ECDSA P-256). Generated, because a committed one would expire. */
export function selfSigned({
  name,
  subject: common = name,
  validFrom = daysFromNow(-1),
  validTo = daysFromNow(1),
}: CertificateOptions): Certificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const algorithm = sequence(ECDSA_WITH_SHA256)
  const subject = sequence(der(SET, sequence(COMMON_NAME, der(UTF8_STRING, common))))
  const alternativeName = sequence(SUBJECT_ALT_NAME, der(OCTET_STRING, sequence(subjectOf(name))))
  const content = sequence(
    der(VERSION, der(INTEGER, [2])),
    der(INTEGER, [1]),
    algorithm,
    subject,
    sequence(der(UTC_TIME, utcTime(validFrom)), der(UTC_TIME, utcTime(validTo))),
    subject,
    publicKey.export({ type: 'spki', format: 'der' }),
    der(EXTENSIONS, sequence(alternativeName)),
  )
  const signature = der(BIT_STRING, [0], sign('sha256', content, privateKey))
  return {
    cert: pem(sequence(content, algorithm, signature)),
    key: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
  }
}

const INTEGER = 0x02
const BIT_STRING = 0x03
const OCTET_STRING = 0x04
const UTF8_STRING = 0x0c
const UTC_TIME = 0x17
const SEQUENCE = 0x30
const SET = 0x31
const DNS_NAME = 0x82
const IP_ADDRESS = 0x87
const VERSION = 0xa0
const EXTENSIONS = 0xa3

/** 1.2.840.10045.4.3.2, 2.5.4.3 and 2.5.29.17 */
const ECDSA_WITH_SHA256 = Buffer.from('06082a8648ce3d040302', 'hex')
const COMMON_NAME = Buffer.from('0603550403', 'hex')
const SUBJECT_ALT_NAME = Buffer.from('0603551d11', 'hex')

/** One element of ASN.1's DER: tag, length, content. */
function der(tag: number, ...parts: readonly (Buffer | string | readonly number[])[]): Buffer {
  const content = Buffer.concat(parts.map((part) => Buffer.from(part as Buffer)))
  const { length } = content
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff]
  return Buffer.concat([Buffer.from([tag, ...size]), content])
}

const subjectOf = (name: string): Buffer => (isIPv4(name) ? der(IP_ADDRESS, name.split('.').map(Number)) : der(DNS_NAME, name))

const sequence = (...parts: readonly Buffer[]): Buffer => der(SEQUENCE, ...parts)

/** `YYMMDDHHMMSSZ` */
const utcTime = (date: Date): string => `${date.toISOString().replace(/\D/g, '').slice(2, 14)}Z`

const pem = (bytes: Buffer): string => `-----BEGIN CERTIFICATE-----\n${bytes.toString('base64')}\n-----END CERTIFICATE-----\n`
