import { expect } from 'chai'
import { pluginApiPage } from '../../../docs/generate/plugin-api.ts'
import { providersPage } from '../../../docs/generate/providers.ts'
import { readText } from '../../support/sources.ts'

describe('The pages that `npm run docs` generates', () => {
  it('include docs/plugin-api.md, up to date with the types', () => {
    expect(readText('docs/plugin-api.md') === pluginApiPage(), 'run `npm run docs`').to.equal(true)
  })

  it("include docs/providers.md, up to date with the providers' parameter tables", async () => {
    expect(readText('docs/providers.md') === (await providersPage()), 'run `npm run docs`').to.equal(true)
  })

  it('have a heading for every link in docs/plugin-api.md', () => {
    const page = readText('docs/plugin-api.md')
    const headings = page.match(/^#+ .+$/gm)!.map((line) => line.replace(/^#+ /, '').replaceAll('`', ''))
    const linked = Array.from(page.matchAll(/\[`?([^\]`]+)`?\]\(#[\w-]+\)/g), ([, name]) => name!)
    expect(linked.filter((name) => !headings.includes(name))).to.deep.equal([])
    expect(new Set(page.matchAll(/\]\((#[\w-]+)\)/g).map(([, anchor]) => anchor))).to.have.property('size', linked.length)
  })
})
