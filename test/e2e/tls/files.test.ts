import { generateKeyPairSync } from 'node:crypto'
import { expect } from 'chai'
import { Home } from '../lifecycle/umg.ts'
import { filesOf, gatewayCertificate } from './fixture.ts'

const certificate = gatewayCertificate()
const other = gatewayCertificate()
const encrypted = generateKeyPairSync('ec', {
  namedCurve: 'P-256',
  publicKeyEncoding: { type: 'spki', format: 'pem' },
  privateKeyEncoding: { type: 'pkcs8', format: 'pem', cipher: 'aes-256-cbc', passphrase: 'secret' },
}).privateKey

const FLAGS = ['--tls-cert', 'gateway.crt', '--tls-key', 'gateway.key']

interface Unusable {
  readonly name: string
  readonly files: Record<string, string>
  readonly flags?: readonly string[]
  readonly says: string
}

const UNUSABLE: readonly Unusable[] = [
  {
    name: 'a certificate that does not exist',
    files: filesOf({ key: certificate.key }),
    says: 'gateway.crt cannot be read (ENOENT): name an existing file with --tls-cert.\n',
  },
  {
    name: 'a key that does not exist',
    files: filesOf({ cert: certificate.cert }),
    says: 'gateway.key cannot be read (ENOENT): name an existing file with --tls-key.\n',
  },
  {
    name: 'the key of another certificate',
    files: filesOf({ cert: certificate.cert, key: other.key }),
    says: 'The key in gateway.key is not that of the certificate in gateway.crt: give the two files that were issued together.\n',
  },
  {
    name: 'the key in place of the certificate',
    files: filesOf({ cert: certificate.key, key: certificate.key }),
    says: 'gateway.crt holds no certificate in PEM: it holds a private key, which belongs in gateway.key.\n',
  },
  {
    name: 'a file that holds no certificate',
    files: filesOf({ cert: 'hello', key: certificate.key }),
    says: 'gateway.crt holds no certificate in PEM: it must begin with -----BEGIN CERTIFICATE-----.\n',
  },
  {
    name: 'a file that holds no key',
    files: filesOf({ cert: certificate.cert, key: certificate.cert }),
    says: 'gateway.key holds no private key in PEM: it must begin with -----BEGIN PRIVATE KEY----- or the like.\n',
  },
  {
    name: 'an encrypted key',
    files: filesOf({ cert: certificate.cert, key: encrypted }),
    says: 'The key in gateway.key is encrypted: decrypt it with "openssl pkey -in gateway.key -out key.pem".\n',
  },
  {
    name: 'a certificate alone',
    files: filesOf(certificate),
    flags: ['--tls-cert', 'gateway.crt'],
    says: '--tls-cert needs --tls-key, the file of the private key of the certificate.\n',
  },
  {
    name: 'a key alone',
    files: filesOf(certificate),
    flags: ['--tls-key', 'gateway.key'],
    says: '--tls-key needs --tls-cert, the file of the certificate that the key belongs to.\n',
  },
]

describe('a gateway does not start with', () => {
  for (const { name, files, flags = FLAGS, says } of UNUSABLE) {
    for (const workers of ['1', '2'])
      it(`${name}, and says what to do (--workers ${workers})`, async () => {
        const home = await Home.create({
          'routes.yaml': 'version: 1\nchain: []\nnamespaces: { sandbox: { provider: sandbox } }\n',
          ...files,
        })
        try {
          const { code, stderr } = await home.run(['start', '--port', '0', '--workers', workers, ...flags]).ended
          expect({ code, stderr }).to.deep.equal({ code: 1, stderr: says })
        } finally {
          await home.remove()
        }
      })
  }
})
