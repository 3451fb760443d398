import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { openStore } from '../../../core/store/database.ts'
import { selfSigned } from '../../support/certificate.ts'
import { onPostgres } from '../../support/databases.ts'
import { refusal, storesIn } from './stores.ts'
import { type TlsFront, tlsFront } from './tls-front.ts'

const server = selfSigned({ name: '127.0.0.1', subject: 'database' })
const misnamed = selfSigned({ name: 'elsewhere.example', subject: 'misnamed' })
const client = selfSigned({ name: 'gateway.internal' })

onPostgres('a database server with TLS', (database) => {
  const { url } = storesIn(database)
  let folder: string
  let front: TlsFront

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-postgres-'))
    const files = { 'ca.pem': server.cert, 'misnamed.pem': misnamed.cert, 'client.pem': client.cert, 'client.key': client.key }
    for (const [name, text] of Object.entries(files)) await writeFile(join(folder, name), text)
  })
  after(() => rm(folder, { recursive: true }))
  beforeEach(async () => {
    front = await tlsFront(url(), server)
  })
  afterEach(() => front?.close())

  const file = (name: string): string => join(folder, name)

  async function opens(parameters: Readonly<Record<string, string>>): Promise<void> {
    const store = await openStore(front.url(parameters))
    await store.close()
    expect(front.clients).not.to.deep.equal([])
  }

  const refused = async (parameters: Readonly<Record<string, string>>): Promise<string> =>
    (await refusal(openStore(front.url(parameters)))).message

  it('is verified by sslmode=verify-full with the file of its authority', () =>
    opens({ sslmode: 'verify-full', sslrootcert: file('ca.pem') }))

  it('is refused by sslmode=verify-full if its authority is unknown, with what to do', async () => {
    const message = await refused({ sslmode: 'verify-full' })
    expect(message).to.match(/has a certificate that is not trusted \(\w+\)\. Add sslrootcert/)
    expect(await refused({ sslmode: 'verify-full', sslrootcert: 'system' })).to.equal(message)
  })

  it('is encrypted but not verified by sslmode=require, unless there is an authority', async () => {
    await opens({ sslmode: 'require' })
    expect(await refused({ sslmode: 'require', sslrootcert: file('misnamed.pem') })).to.include('not trusted')
  })

  it('may have the certificate of another host with verify-ca, not with verify-full', async () => {
    await front.close()
    front = await tlsFront(url(), misnamed)
    await opens({ sslmode: 'verify-ca', sslrootcert: file('misnamed.pem') })
    expect(await refused({ sslmode: 'verify-full', sslrootcert: file('misnamed.pem') })).to.include(
      'has the certificate of another host',
    )
  })

  it('gets the certificate of sslcert and sslkey', async () => {
    await opens({ sslmode: 'verify-full', sslrootcert: file('ca.pem'), sslcert: file('client.pem'), sslkey: file('client.key') })
    expect(new Set(front.clients)).to.deep.equal(new Set(['gateway.internal']))
  })

  it('that has no TLS is refused if the URL demands it', async () => {
    const plain = new URL(url())
    plain.searchParams.set('sslmode', 'require')
    expect((await refusal(openStore(plain.href))).message).to.include('does not support TLS. Turn it on there')
  })

  const WRONG: readonly (readonly [parameters: Readonly<Record<string, string>>, message: string])[] = [
    [
      { sslmode: 'verify-full', sslrootcert: '/nowhere/ca.pem' },
      'sslrootcert of the database URL: /nowhere/ca.pem cannot be read (ENOENT)',
    ],
    [{ sslmode: 'verify-ca' }, 'sslmode=verify-ca of the database URL needs sslrootcert'],
    [{ sslmode: 'prefer' }, 'sslmode of the database URL must be one of disable, require, verify-ca, verify-full'],
    [{ sslrootcert: '/nowhere/ca.pem' }, 'names files of TLS, but no sslmode: add sslmode=verify-full'],
    [{ sslmode: 'require', sslkey: '/nowhere/key.pem' }, 'has sslkey without sslcert'],
  ]

  for (const [parameters, message] of WRONG)
    it(`is not connected to with ${JSON.stringify(parameters)}`, async () => {
      expect(await refused(parameters)).to.include(message)
      expect(front.clients).to.deep.equal([])
    })
})
