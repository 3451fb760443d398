import type { LookupAddress } from 'node:dns'
import fs from 'node:fs'
import { expect } from 'chai'
import { lookup } from '../../../core/upstream/names.ts'
import { type DnsServer, dnsServer, type Zone } from '../../support/dns-server.ts'
import { describeWith } from '../../support/requirements.ts'

describeWith('linux', 'the name of an upstream', () => {
  const { readFileSync } = fs
  const { now } = performance
  const files = new Map<string, string>()
  let server: DnsServer
  let number = 0

  beforeEach(async () => {
    server = await dnsServer()
    files.set('/etc/hosts', '').set('/etc/resolv.conf', '')
    fs.readFileSync = ((path: string, ...rest: [BufferEncoding]) => files.get(path) ?? readFileSync(path, ...rest)) as never
  })

  afterEach(async () => {
    fs.readFileSync = readFileSync
    performance.now = now
    await server?.close()
  })

  /** Puts the clock forward. */
  function elapse(seconds: number): void {
    const { now } = performance
    performance.now = () => now.call(performance) + seconds * 1000
  }

  /** A name that no other test has, because answers are kept. */
  function named(zone: Zone, suffix = ''): string {
    const name = `name-${++number}.test`
    server.zones.set(name + suffix, zone)
    return name
  }

  function addressesOf(name: string): Promise<string[]> {
    return new Promise((resolve, reject) => {
      lookup(name, { all: true }, (error, addresses) => {
        if (error) reject(error)
        else resolve((addresses as LookupAddress[]).map(({ address }) => address))
      })
    })
  }

  const failureOf = (name: string): Promise<NodeJS.ErrnoException> =>
    addressesOf(name).then(
      (addresses) => expect.fail(`resolved to ${addresses}`),
      (error) => error,
    )

  it('resolves to its addresses of both families, asked for at once', async () => {
    const name = named({ addresses: ['::1', '127.0.0.1', '127.0.0.2'] })
    expect(await addressesOf(name)).to.include.members(['127.0.0.1', '127.0.0.2'])
    expect(server.questions).to.have.members([`A ${name}`, `AAAA ${name}`])
  })

  it('resolves where it has addresses of one family only', async () => {
    expect(await addressesOf(named({ addresses: ['127.0.0.1'] }))).to.deep.equal(['127.0.0.1'])
    expect(await addressesOf(named({ addresses: ['::1'] }))).to.deep.equal(['::1'])
  })

  it('resolves where the name server is silent about one family', async () => {
    expect(await addressesOf(named({ addresses: ['127.0.0.1'], silent: 6 }))).to.deep.equal(['127.0.0.1'])
    expect(await addressesOf(named({ addresses: ['::1'], silent: 4 }))).to.deep.equal(['::1'])
  })

  it('resolves over TCP where the answer is too long for UDP', async () => {
    const addresses = Array.from({ length: 100 }, (_, index) => `127.0.1.${index}`)
    const name = named({ addresses, truncated: true })
    expect(await addressesOf(name)).to.have.members(addresses)
    expect(server.questions).to.include(`A ${name} by TCP`)
  })

  it('resolves once for all calls that want it at the same time', async () => {
    const name = named({ addresses: ['127.0.0.1'] })
    await Promise.all(Array.from({ length: 50 }, () => addressesOf(name)))
    expect(server.questions).to.have.length(2)
  })

  for (const [ttl, kept] of [
    [0, 1],
    [7, 7],
    [3600, 60],
  ] as const) {
    it(`is kept for ${kept} seconds if its record says ${ttl}`, async () => {
      const name = named({ addresses: ['127.0.0.1'], ttl })
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.1'])
      server.zones.set(name, { addresses: ['127.0.0.2'] })
      elapse(kept - 0.5)
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.1'])
      elapse(0.5)
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.2'])
    })
  }

  it('leads to each of its addresses in turn', async () => {
    const addresses = ['127.0.0.1', '127.0.0.2', '127.0.0.3']
    const name = named({ addresses })
    const first = [await addressesOf(name), await addressesOf(name), await addressesOf(name)].map(([address]) => address)
    expect(first).to.have.members(addresses)
  })

  for (const [what, zone, code] of [
    ['does not exist', { failure: 'NXDOMAIN' }, 'ENOTFOUND'],
    ['has no address', {}, 'ENOTFOUND'],
    ['has a name server that fails', { failure: 'SERVFAIL' }, 'EAI_AGAIN'],
    ['has a name server that is silent', { silent: 'both' }, 'EAI_AGAIN'],
  ] as const) {
    it(`that ${what} fails with ${code}, and resolves a second after it is repaired`, async () => {
      const name = named(zone)
      const failing = failureOf(name)
      expect(await addressesOf(named({ addresses: ['127.0.0.1'] })), 'another name meanwhile').to.have.length(1)
      expect(await failing).to.include({ code, hostname: name, message: `${code} ${name}` })
      server.zones.set(name, { addresses: ['127.0.0.1'] })
      expect(await failureOf(name)).to.include({ code })
      elapse(1)
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.1'])
    })
  }

  describe('in /etc/hosts', () => {
    it('needs no name server', async () => {
      files.set('/etc/hosts', '127.0.0.7 other Model.Host model # model2\n# 127.0.0.8 model.host\n::1\tmodel.host\n')
      expect(await addressesOf('model.host')).to.deep.equal(['127.0.0.7', '::1'])
      expect(await addressesOf('model.host.')).to.deep.equal(['127.0.0.7', '::1'])
      expect(server.questions).to.deep.equal([])
      expect(await failureOf('model2')).to.include({ code: 'ENOTFOUND' })
    })

    it('may not be there at all', async () => {
      fs.readFileSync = ((path: string) => readFileSync(`/nowhere${path}`)) as never
      expect(await addressesOf(named({ addresses: ['127.0.0.1'] }))).to.deep.equal(['127.0.0.1'])
    })
  })

  it('that is localhost, or ends in it, is loopback', async () => {
    // Another test may have resolved it by another /etc/hosts.
    elapse(1)
    expect(await addressesOf('localhost')).to.deep.equal(['127.0.0.1', '::1'])
    expect(await addressesOf('models.localhost')).to.deep.equal(['127.0.0.1', '::1'])
    expect(server.questions).to.deep.equal([])
  })

  it('that cannot be looked up for want of descriptors fails with their code, and resolves as soon as there is one', async () => {
    const name = named({ addresses: ['127.0.0.1'] })
    const { readFileSync } = fs
    fs.readFileSync = (() => {
      throw Object.assign(new Error('canary'), { code: 'EMFILE' })
    }) as never
    expect(await failureOf(name)).to.include({ code: 'EMFILE' })
    fs.readFileSync = readFileSync
    expect(await addressesOf(name)).to.deep.equal(['127.0.0.1'])
  })

  describe('and search domains', () => {
    beforeEach(() => {
      files.set('/etc/resolv.conf', 'domain ignored.example\nsearch a.example b.example.\noptions edns0 ndots:2 timeout:1\n')
    })

    const asked = () => server.questions.filter((question) => question.startsWith('A ')).map((question) => question.slice(2))

    it('is looked up in them first if it has few dots', async () => {
      const name = named({ addresses: ['127.0.0.5'] }, '.b.example')
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.5'])
      expect(asked()).to.deep.equal([`${name}.a.example`, `${name}.b.example`])
    })

    it('is looked up as it is, at last', async () => {
      const name = named({ addresses: ['127.0.0.5'] })
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.5'])
      expect(asked()).to.deep.equal([`${name}.a.example`, `${name}.b.example`, name])
    })

    it('is looked up as it is, at first, if it has many dots', async () => {
      server.zones.set('many.dots.test', { addresses: ['127.0.0.5'] })
      expect(await addressesOf('many.dots.test')).to.deep.equal(['127.0.0.5'])
      expect(asked()).to.deep.equal(['many.dots.test'])
    })

    it('is not looked up in them if it ends in a dot', async () => {
      const name = named({ addresses: ['127.0.0.5'] }, '.a.example')
      expect(await failureOf(`${name}.`)).to.include({ code: 'ENOTFOUND' })
      expect(asked()).to.deep.equal([name])
    })

    it('resolves although the name server of one domain fails', async () => {
      const name = named({ failure: 'SERVFAIL' }, '.a.example')
      server.zones.set(`${name}.b.example`, { addresses: ['127.0.0.5'] })
      expect(await addressesOf(name)).to.deep.equal(['127.0.0.5'])
    })

    it('fails as the name server of one domain does, if no other has it', async () => {
      expect(await failureOf(named({ failure: 'SERVFAIL' }, '.a.example'))).to.include({ code: 'EAI_AGAIN' })
    })
  })
})
