import { readFile } from 'node:fs/promises'
import { expect } from 'chai'
import { parse } from 'yaml'
import { CHAT, MESSAGES } from '../../bench/apis.ts'
import { PEERS, type Values } from '../../bench/peers.ts'
import { fill } from '../../bench/start-peers.ts'

const values: Values = {
  installed: '/cache/peer',
  scratch: '/scratch/peer',
  config: '/scratch/peer/config.yaml',
  port: '18000',
  upstream: '19000',
  key: 'sk-live-key',
  node: '/usr/bin/node',
}

/** A name in braces that nothing replaced. */
const LEFT = /\{\w+\}/

describe('the table of peers', () => {
  it('has each name once, and none of a subject that is always measured', () => {
    const names = ['direct', 'nginx', 'relay', 'gateway', ...PEERS.map(({ name }) => name)]
    expect(new Set(names)).to.have.length(names.length)
  })

  it('says of each peer what it has switched on', () => {
    for (const { switchedOn } of PEERS) expect(switchedOn).to.match(/\w/).and.not.contain('|')
  })

  it('names exact versions of packages, so that two runs measure the same', () => {
    for (const { name, source } of PEERS)
      for (const one of source.registry === 'none' ? [] : source.packages)
        expect(one, name).to.match(/[\w\]](?:==|@)\d+\.\d+\.\d+$/)
  })

  for (const { name, program, args, config, asks } of PEERS) {
    it(`fills in all that ${name} is started and asked with`, async () => {
      const headers = [CHAT, MESSAGES].flatMap((api) => Object.values(asks(api).headers ?? {}))
      for (const text of [program, ...args, ...headers]) expect(fill(text, values)).to.not.match(LEFT)
      if (config === undefined) return
      const filled = fill(await readFile(new URL(`../../bench/peers/${config}`, import.meta.url), 'utf8'), values)
      expect(filled.replace(/^#.*/gm, '')).to.not.match(LEFT)
      expect(parse(filled)).to.be.an('object')
    })

    it(`asks ${name} for the model of the upstream that a scenario is about`, () => {
      for (const api of [CHAT, MESSAGES]) {
        const { path, model } = asks(api)
        expect(model).to.match(new RegExp(`(?:^|/)${api.model}$`))
        expect([api.path, CHAT.path]).to.contain(path)
      }
    })
  }

  it('is the table of docs/performance.md', async () => {
    const page = await readFile(new URL('../../docs/performance.md', import.meta.url), 'utf8')
    const rows = Array.from(page.matchAll(/^\| `([\w-]+)` +\| (.+?) +\|/gm), ([, name, from]) => ({ name: name!, from: from! }))
    const peers = rows.slice(rows.findIndex(({ name }) => name === PEERS[0]!.name)).slice(0, PEERS.length)
    expect(peers.map(({ name }) => name)).to.deep.equal(PEERS.map(({ name }) => name))
    for (const [at, { source, program }] of PEERS.entries())
      expect(peers[at]!.from).to.contain(
        source.registry === 'none' ? program : source.packages[0]!.replace(/(?:==|(?<=.)@)[\d.]+$/, ''),
      )
  })

  it('leaves braces alone that name no value', () => {
    expect(fill('{ a: {port} } {unknown} {toString}', values)).to.equal('{ a: 18000 } {unknown} {toString}')
  })
})
