import { expect } from 'chai'
import { exposures } from '../../../core/cli/start/lifecycle.ts'

const ADMIN = { port: 9090 }
const TLS = { tlsCert: 'gateway.crt' }

/** The first words of the warnings. */
const warned = (options: Parameters<typeof exposures>[0]): readonly string[] =>
  exposures(options).map((text) => /without TLS|without a token/.exec(text)![0])

describe('metrics without a token', () => {
  for (const host of ['0.0.0.0', '::', '192.168.1.7', 'gateway.internal', '127.example.com']) {
    it(`can be read by other machines on ${host}`, () => {
      expect(warned({ ...TLS, host })).to.deep.equal(['without a token'])
      expect(warned({ ...TLS, host: '127.0.0.1', adminListen: { ...ADMIN, host } })).to.deep.equal(['without a token'])
      expect(warned({ ...TLS, host, metricsToken: 'm-token' })).to.deep.equal([])
      expect(warned({ ...TLS, host, adminListen: { ...ADMIN, host: '127.0.0.1' } })).to.deep.equal([])
    })
  }

  for (const host of ['127.0.0.1', '127.0.0.2', 'localhost', '::1']) {
    it(`cannot be read by other machines on ${host}`, () => {
      expect(warned({ host })).to.deep.equal([])
      expect(warned({ ...TLS, host: '0.0.0.0', adminListen: { ...ADMIN, host } })).to.deep.equal([])
    })
  }
})

describe('a connection to another machine', () => {
  const hidden = { host: '127.0.0.1' }
  const without = ['without TLS']

  for (const host of ['db.internal', '10.0.0.7', '[2001:db8::7]']) {
    it(`without TLS is warned of: ${host}`, () => {
      expect(warned({ ...hidden, redis: `redis://:secret@${host}:6379` })).to.deep.equal(without)
      expect(warned({ ...hidden, database: `postgres://umg:secret@${host}/umg` })).to.deep.equal(without)
      expect(warned({ ...hidden, database: `postgresql://umg@${host}/umg?sslmode=disable` })).to.deep.equal(without)
    })

    it(`with TLS is not warned of: ${host}`, () => {
      expect(warned({ ...hidden, redis: `rediss://${host}` })).to.deep.equal([])
      expect(warned({ ...hidden, database: `postgres://umg@${host}/umg?sslmode=verify-full` })).to.deep.equal([])
    })
  }

  it('is not one to this machine, to a socket or to a file', () => {
    for (const redis of ['redis://127.0.0.1:6379', 'redis://localhost', 'redis://[::1]:6379'])
      expect(warned({ ...hidden, redis })).to.deep.equal([])
    for (const database of [
      'postgres://umg@localhost/umg',
      'postgres://umg@%2Fvar%2Frun%2Fpostgresql/umg',
      'postgres:///umg?host=/var/run/postgresql',
      'sqlite:/data/gateway.db',
      'gateway.db',
    ])
      expect(warned({ ...hidden, database })).to.deep.equal([])
  })
})

describe('a gateway without a certificate', () => {
  const open = { host: '0.0.0.0', metricsToken: 'm-token' }

  it('warns if other machines connect to one of its listeners', () => {
    expect(warned(open)).to.deep.equal(['without TLS'])
    expect(warned({ ...open, host: '127.0.0.1', adminListen: { ...ADMIN, host: '0.0.0.0' } })).to.deep.equal(['without TLS'])
    expect(warned({ ...open, publicUrl: 'http://llm.example.com' })).to.deep.equal(['without TLS'])
  })

  it('does not warn if its address for clients is https, or is on this machine', () => {
    expect(warned({ ...open, publicUrl: 'https://llm.example.com' })).to.deep.equal([])
    expect(warned({ ...open, publicUrl: 'http://127.0.0.1:8080' })).to.deep.equal([])
  })
})
