import { expect } from 'chai'
import { PRESET_VENDORS, PROVIDER_VENDORS } from '../../../../core/limits/prices/vendors.ts'
import { TOKEN_CLASSES } from '../../../../core/protocol/usage.ts'
import { readText } from '../../../support/sources.ts'

const DOC = readText('docs/prices.md')

/** The cells of the table with these headings, without backticks. */
function tableOf(headings: string): string[][] {
  const [, rows = ''] = DOC.split(`| ${headings} |\n`)
  const table = rows.split('\n\n', 1)[0]!.split('\n').slice(1)
  return table.map((row) =>
    row
      .split('|')
      .slice(1, -1)
      .map((cell) => cell.trim().replaceAll('`', '')),
  )
}

describe('docs/prices.md', () => {
  it('lists the vendors of providers and presets', () => {
    expect(tableOf('provider | vendor in genai-prices')).to.deep.equal(Object.entries(PROVIDER_VENDORS))
    expect(tableOf('preset of `openai-compatible` | vendor in genai-prices')).to.deep.equal(Object.entries(PRESET_VENDORS))
  })

  it('lists the classes of tokens, and what those without a price cost', () => {
    const documented = tableOf('class | tokens | without a price of its own').flatMap(([names = '', , otherwise]) =>
      names.split(', ').map((name) => [name, otherwise]),
    )
    const declared = Object.entries(TOKEN_CLASSES).map(([name, parent]) => [
      name,
      parent === undefined ? 'unknown' : `as ${parent}`,
    ])
    expect(documented).to.have.deep.members(declared)
  })
})
