import { expect } from 'chai'
import { NAMES, SECTIONS, SIGNS } from '../matrix/page.ts'
import { COLUMNS } from '../matrix/rows.ts'
import { readText } from '../support/sources.ts'

const PAGE = readText('docs/compatibility.md')

/** The table under a heading, row by row. */
function tableOf(heading: string): readonly (readonly string[])[] {
  const [, section = ''] = PAGE.split(`\n## ${heading}\n`)
  const lines = section
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('|'))
  const [heads, , ...rows] = lines.map((line) => line.slice(2, -2).split(' | '))
  return [heads!, ...rows]
}

const UPSTREAMS = COLUMNS.map(({ name }) => name)

describe('docs/compatibility.md, which `npm run matrix` writes', () => {
  it('has all clients, with the protocols that they speak', () => {
    const [heads, ...rows] = tableOf('Clients')
    expect(heads!.slice(2)).to.deep.equal(SECTIONS.map(({ title }) => title))
    expect(rows.map(([name, , ...speaks]) => [name, ...speaks])).to.deep.equal(
      NAMES.map((name) => [
        name,
        ...SECTIONS.map(({ rows: speakers }) => (speakers.some((row) => row.name === name) ? SIGNS.works : SIGNS.none)),
      ]),
    )
  })

  it('has all upstreams', () => {
    expect(
      tableOf('Upstreams')
        .slice(1)
        .map(([name]) => name),
    ).to.deep.equal(UPSTREAMS)
  })

  for (const { title, rows } of SECTIONS) {
    it(`has each client of ${title} and each upstream`, () => {
      const [heads, ...cells] = tableOf(`Clients of ${title}`)
      expect(heads!.slice(1)).to.deep.equal(UPSTREAMS)
      expect(cells.map(([name]) => name)).to.deep.equal(rows.map(({ name }) => name))
    })
  }

  it('says what each number in a cell means', () => {
    const noted = tableOf('Notes')
      .slice(1)
      .map(([number]) => number)
    const used = SECTIONS.flatMap(({ title }) => tableOf(`Clients of ${title}`).slice(1)).flatMap(
      ([, ...cells]) => cells.join(' ').match(/\b\d+\b/g) ?? [],
    )
    expect([...new Set(used)].sort((one, other) => Number(one) - Number(other))).to.deep.equal(noted)
  })

  it('has no cell that fails', () => {
    const cells = SECTIONS.flatMap(({ title }) => tableOf(`Clients of ${title}`).slice(1).flat())
    expect(cells.filter((cell) => cell.startsWith(SIGNS.fails))).to.deep.equal([])
  })
})
