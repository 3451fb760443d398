import { expect } from 'chai'
import { pluginApiPage } from '../../../docs/generate/plugin-api.ts'
import { providersPage } from '../../../docs/generate/providers.ts'
import { readText } from '../../support/sources.ts'

describe('the pages that `npm run docs` writes are up to date:', () => {
  it('docs/plugin-api.md says what the types say', () => {
    expect(readText('docs/plugin-api.md') === pluginApiPage(), 'run `npm run docs`').to.equal(true)
  })

  it("docs/providers.md says what the providers' tables say", async () => {
    expect(readText('docs/providers.md') === (await providersPage()), 'run `npm run docs`').to.equal(true)
  })

  it('docs/plugin-api.md leads to everything that it lists', () => {
    const page = readText('docs/plugin-api.md')
    const headings = page.match(/^#+ .+$/gm)!.map((line) => line.replace(/^#+ /, '').replaceAll('`', ''))
    const linked = Array.from(page.matchAll(/\[`?([^\]`]+)`?\]\(#[\w-]+\)/g), ([, name]) => name!)
    expect(linked.filter((name) => !headings.includes(name))).to.deep.equal([])
    expect(new Set(page.matchAll(/\]\((#[\w-]+)\)/g).map(([, anchor]) => anchor))).to.have.property('size', linked.length)
  })
})
