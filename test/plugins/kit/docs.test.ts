import { expect } from 'chai'
import { readText } from '../../support/sources.ts'

describe('docs/plugin-api.md', () => {
  it('has a heading for every link', () => {
    const page = readText('docs/plugin-api.md')
    const headings = page.match(/^#+ .+$/gm)!.map((line) => line.replace(/^#+ /, '').replaceAll('`', ''))
    const linked = Array.from(page.matchAll(/\[`?([^\]`]+)`?\]\(#[\w-]+\)/g), ([, name]) => name!)
    expect(linked.filter((name) => !headings.includes(name))).to.deep.equal([])
    expect(new Set(page.matchAll(/\]\((#[\w-]+)\)/g).map(([, anchor]) => anchor))).to.have.property('size', linked.length)
  })
})
