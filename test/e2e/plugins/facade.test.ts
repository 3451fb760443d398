import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { readText } from '../../support/sources.ts'
import { strangers } from './stranger-files.ts'

interface Probe {
  readonly names: Readonly<Record<string, readonly string[]>>
  readonly changes?: Readonly<Record<string, boolean>>
  readonly constructors: readonly boolean[]
  readonly attempts?: number
}

/** The members that an interface of the plugin API documents. */
function documented(file: string, name: string): string[] {
  const body = new RegExp(`^export interface ${name}\\b[^{]*\\{([\\s\\S]*?)^\\}`, 'm').exec(readText(`core/sdk/${file}.ts`))![1]!
  return Array.from(body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:<]/gm), ([, member]) => member!).sort()
}

describe('what a plugin can reach of core', () => {
  let folder: string
  let gateway: TestGateway
  let link: Probe
  let provider: Probe

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-facade-'))
    const file = (name: string) => join(folder, `${name}.json`)
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: './prober.ts', config: { file: file('link') } }],
        namespaces: {
          up: { provider: './probing-provider.ts', config: { file: file('provider') } },
          acme: { models: { filled: { targets: [{ model: 'up/m' }], defaults: { temperature: 0 } } } },
        },
      },
      files: strangers('prober.ts', 'probing-provider.ts'),
    })
    const json = { model: 'acme/filled', messages: [{ role: 'user', content: 'Hello' }] }
    const reply = await gateway.fetch('/v1/chat/completions', { json })
    expect(reply.status, await reply.text()).to.equal(200)
    link = JSON.parse(await readFile(file('link'), 'utf8'))
    provider = JSON.parse(await readFile(file('provider'), 'utf8'))
  })

  after(async () => {
    await gateway?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  for (const [object, file, type] of [
    ['ctx.state', 'call', 'CallState'],
    ['ctx.state.reply', 'call', 'Reply'],
    ['a call', 'call', 'Call'],
    ['host', 'host', 'Host'],
    ['host.log', 'host', 'HostLog'],
    ['host.metrics', 'host', 'HostMetrics'],
    ['a counter', 'host', 'HostCounter'],
    ['a histogram', 'host', 'HostHistogram'],
    ['host.limits', 'limits', 'Limits'],
  ] as const) {
    it(`${object} has the names that ${type} documents, and no others`, () => {
      expect(link.names[object]).to.deep.equal(documented(file, type))
    })
  }

  it('a reservation has names that Reservation documents, and no others', () => {
    expect(documented('limits', 'Reservation')).to.include.members(link.names['a reservation'] as string[])
  })

  it('host.keys verifies, and does nothing else', () => {
    expect(link.names['host.keys']).to.deep.equal(['verify'])
  })

  it('a provider gets a call and an attempt with the names that Call and Attempt document, and no others', () => {
    expect(provider.names.call).to.deep.equal(documented('call', 'Call'))
    expect(provider.names.attempt).to.deep.equal(documented('plugin', 'Attempt'))
  })

  it('no object leads to a class of core', () => {
    expect([...link.constructors, ...provider.constructors]).to.deep.equal([true, true, true, true])
  })

  it('a link cannot replace the state, the call or the host of any call', () => {
    expect(link.changes).to.deep.equal({ 'ctx.state': false, 'ctx.state.call': false, 'call.splice': false, 'host.keys': false })
  })

  it('a link cannot change the attempts that core counts', () => {
    expect(link.attempts).to.equal(1)
  })
})
