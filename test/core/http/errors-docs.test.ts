import { readFileSync } from 'node:fs'
import { expect } from 'chai'
import { ERRORS } from '../../../core/error-table.ts'

const DOCS = readFileSync(new URL('../../../docs/errors.md', import.meta.url), 'utf8')
const HEADINGS = ['Name', 'Status', '`type`', '`code`', 'Fault', 'Repeated', 'Message', 'What to do']

type Row = (typeof ERRORS)[keyof typeof ERRORS] & { readonly retry?: false }

const cellsOf = (line: string): string[] =>
  line
    .split('|')
    .slice(1, -1)
    .map((cell) => cell.trim())

/** The documented rows, by the name of the error. */
const documented = new Map(
  (DOCS.match(/^\| `[a-z_]+` \|.*$/gm) ?? []).map((line) => [cellsOf(line)[0]!.replaceAll('`', ''), cellsOf(line)]),
)

const word = (text: string | null): string => (text === null ? 'null' : `\`${text}\``)

/** What the official SDKs do by themselves (`shouldRetry` in openai-node's client.ts). */
function repeated({ status, retry }: Row): string {
  if (retry === false) return 'never'
  return [408, 409, 429].includes(status) || status >= 500 ? 'yes' : 'no'
}

describe('docs/errors.md', () => {
  it('lists exactly the errors of the table', () => {
    expect([...documented.keys()]).to.have.members(Object.keys(ERRORS))
  })

  it('has the same columns in every table', () => {
    const headings = (DOCS.match(/^\| Name .*$/gm) ?? []).map(cellsOf)
    expect(headings).to.deep.equal(headings.map(() => HEADINGS))
    expect(headings).to.not.have.length(0)
  })

  for (const [name, row] of Object.entries(ERRORS) as [string, Row][]) {
    it(`has the status, type and code of ${name}, and says what to do`, () => {
      const { status, type, code, fault, message } = row
      const cells = documented.get(name) ?? []
      expect(cells.slice(0, -1)).to.deep.equal([
        word(name),
        String(status),
        word(type),
        word(code),
        fault,
        repeated(row),
        message,
      ])
      expect(cells.at(-1)).to.match(/^[A-Z].{8,}\.$/)
    })
  }
})
