import { expect } from 'chai'
import { csvLine } from '../../../core/usage/exports.ts'

const LINES: readonly (readonly [name: string, cells: Parameters<typeof csvLine>[0], line: string])[] = [
  ['plain cells', ['a', 1, true], 'a,1,true'],
  ['empty cells', [null, undefined, ''], ',,'],
  ['commas, quotes and ends of lines', ['a,b', 'say "hi"', 'two\nlines', 'a\rb'], '"a,b","say ""hi""","two\nlines","a\rb"'],
  ['a formula', ['=HYPERLINK("http://x")'], '"\'=HYPERLINK(""http://x"")"'],
  ['other beginnings of formulas', ['+1', '-1', '@SUM(A1)', '\t=1', '\n=1'], `'+1,'-1,'@SUM(A1),'\t=1,"'\n=1"`],
  ['numbers below zero, which are not text', [-1], '-1'],
]

describe('a line of CSV', () => {
  for (const [name, cells, line] of LINES) it(`may contain ${name}`, () => expect(csvLine(cells)).to.equal(`${line}\r\n`))
})
