import { readFileSync } from 'node:fs'
import { Ajv } from 'ajv'
import { expect } from 'chai'
import { HISTORIES } from '../../../../plugins/providers/openai-compatible/history.ts'
import plugin from '../../../../plugins/providers/openai-compatible/index.ts'
import { PRESETS, type Preset } from '../../../../plugins/providers/openai-compatible/presets.ts'
import { createProvider } from './provider.ts'

const presets: readonly (readonly [string, Preset])[] = Object.entries(PRESETS)
const docs = readFileSync(new URL('../../../../docs/presets.md', import.meta.url), 'utf8')

/** The rows of the table below a heading, cell by cell. */
const rowsBelow = (heading: string): string[][] => {
  const section = docs.split(`## ${heading}\n`)[1]!.split('\n## ')[0]!
  const rows = section.split('\n').filter((line) => line.startsWith('| `'))
  return rows.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim()),
  )
}

describe('openai-compatible: the presets', () => {
  for (const [name, preset] of presets) {
    it(`${name} works, with its key or without`, () => {
      expect(createProvider({ preset: name, apiKey: 'sk-x' })).to.have.property('request')
      expect(createProvider({ preset: name })).to.have.property('request')
      expect(preset.source).to.match(/^https:\/\//)
    })

    it(`${name} sends a key only over TLS`, () => {
      if (preset.keyVariable !== undefined) expect(preset.baseUrl).to.match(/^https:/)
      else expect(preset.baseUrl).to.match(/^http:\/\/127\.0\.0\.1:\d+\//)
    })
  }

  it('are the table of docs/presets.md', () => {
    const expected = presets.map(([name, { baseUrl, keyVariable, responses, history, quirks, source }]) => [
      `[\`${name}\`](${source})`,
      baseUrl,
      keyVariable === undefined ? '' : `\`${keyVariable}\``,
      responses ? 'yes' : '',
      history === undefined ? '' : `\`${history}\``,
      quirks.map((quirk) => `\`${quirk.name}\``).join(', '),
    ])
    const documented = docs
      .split('\n')
      .filter((line) => line.startsWith('| [`'))
      .map((row) =>
        row
          .split('|')
          .slice(1, -1)
          .map((cell) => cell.trim()),
      )
    expect(documented).to.deep.equal(expected)
  })

  it('leave out and refuse the fields of the table of docs/presets.md', () => {
    const expected = presets.flatMap(([name, { unsupported }]) => {
      if (unsupported === undefined) return []
      const named = (support: string): string =>
        Object.keys(unsupported)
          .filter((member) => unsupported[member]!.support === support)
          .map((member) => `\`${member}\``)
          .join(', ')
      return [[`\`${name}\``, named('dropped'), named('refused')]]
    })
    expect(rowsBelow('Fields that a vendor refuses')).to.have.deep.members(expected)
  })

  it('have the quirks that docs/presets.md explains', () => {
    const names = new Set(presets.flatMap(([, { quirks }]) => quirks.map(({ name }) => `\`${name}\``)))
    expect(rowsBelow('Quirks').map(([name]) => name)).to.have.members([...names])
  })

  it('may be joined by any quirk that docs/presets.md explains, but for one with a table of the vendor', () => {
    const accepts = new Ajv({ strict: false }).compile(plugin.schema)
    const own = rowsBelow('Quirks').map(([name]) => name!.replaceAll('`', ''))
    const taken = own.filter((quirk) => accepts({ baseUrl: 'http://127.0.0.1:9/v1', quirks: [quirk] }))
    expect(taken).to.have.members(own.filter((quirk) => quirk !== 'finish-reasons'))
  })

  it('and own addresses may have any kind of history, and no other: those that docs/presets.md explains', () => {
    const accepts = new Ajv({ strict: false }).compile(plugin.schema)
    const kinds = rowsBelow('History').map(([name]) => name!.replaceAll('`', ''))
    expect(kinds).to.deep.equal(Object.keys(HISTORIES))
    for (const history of kinds) expect(accepts({ baseUrl: 'http://127.0.0.1:9/v1', history })).to.equal(true)
    expect(accepts({ preset: 'groq', history: 'some' })).to.equal(false)
  })

  it('are what the schema accepts, and nothing else', () => {
    const accepts = new Ajv({ strict: false }).compile(plugin.schema)
    for (const [name] of presets) expect(accepts({ preset: name })).to.equal(true)
    expect(accepts({ preset: 'opnai' })).to.equal(false)
    expect(accepts({ preset: 'openai', baseURL: 'https://x' })).to.equal(false)
    expect(accepts({ baseUrl: 'http://127.0.0.1:11434/v1', headers: { 'x-a': '1' } })).to.equal(true)
  })
})
