import { expect } from 'chai'
import fc from 'fast-check'
import { MAX_DEPTH, MAX_PARTS, type Member, ScanError, type ScanErrorCode, scanObject } from '../../../core/protocol/json.ts'
import { objectText, stringText } from './documents.ts'

const scan = (text: string): readonly Member[] => scanObject(Buffer.from(text)).members

/** Why a text is refused; undefined where it is not. */
function fault(text: string): ScanErrorCode | undefined {
  try {
    scan(text)
  } catch (error) {
    expect(error).to.be.instanceOf(ScanError)
    return (error as ScanError).code
  }
}

/** The members of a text's object as the language's own parser reads them, in order, with those that stand twice. */
function membersByParser(text: string): [key: string, value: unknown][] {
  const members: [string, unknown][] = []
  for (const { key, at, start, end } of scan(text)) {
    const bytes = Buffer.from(text)
    expect(JSON.parse(bytes.toString('utf8', at, bytes.indexOf(':', keyEnd(bytes, at))))).to.equal(key)
    members.push([key, JSON.parse(bytes.toString('utf8', start, end))])
  }
  return members
}

/** One past the closing quote of the string that begins here. */
function keyEnd(bytes: Buffer, at: number): number {
  let end = at + 1
  while (bytes[end] !== 0x22) end += bytes[end] === 0x5c ? 2 : 1
  return end + 1
}

const isObject = (text: string): boolean => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null && !Array.isArray(value)
  } catch {
    return false
  }
}

/** Tokens whose insides are beyond doubt: what is wrong with a row of them is its structure. */
const TOKENS = ['{', '}', '[', ']', ':', ',', '"a"', '"\\""', '7', 'true', 'false', 'null', ' ', '\n'] as const

describe('a scan of a JSON object', () => {
  it('finds the position of every member, in any spelling', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        const members = membersByParser(text)
        expect(Object.fromEntries(members)).to.deep.equal(JSON.parse(text))
      }),
      { numRuns: 500 },
    )
  })

  it('finds the members in their order, duplicates included', () => {
    expect(membersByParser('{"a":1,"b":[{"a":2}],"a":{"a":3}}')).to.deep.equal([
      ['a', 1],
      ['b', [{ a: 2 }]],
      ['a', { a: 3 }],
    ])
  })

  it('reads keys as JSON.parse does', () => {
    fc.assert(
      fc.property(stringText, (key) => {
        expect(scan(`{${key}:0}`).map((member) => member.key)).to.deep.equal([JSON.parse(key)])
      }),
    )
    expect(scan('{"mod\\u0065l":0}')[0]).to.deep.equal({ key: 'model', at: 1, start: 14, end: 15 })
  })

  it('accepts a sequence of tokens exactly if JSON.parse does', () => {
    const token = fc.constantFrom(...TOKENS)
    const object = fc.array(token, { maxLength: 12 }).map((tokens) => `{${tokens.join('')}}`)
    fc.assert(
      fc.property(object, (text) => {
        expect(fault(text) === undefined, text).to.equal(isObject(text))
      }),
      { numRuns: 2000 },
    )
  })

  it('refuses a missing, doubled or replaced token exactly if JSON.parse does', () => {
    const text = '{"a":[{"b":[7,true,[]],"c":{}},null],"d":{"e":"\\"","f":[[7],[7]]},"g":false}'
    const tokens = text.match(/"(?:\\.|[^"])*"|\w+|./g)!
    for (const [index, old] of tokens.entries()) {
      for (const changed of [[], [old, old], ...TOKENS.map((token) => [token])]) {
        const damaged = tokens.toSpliced(index, 1, ...changed).join('')
        expect(fault(damaged) === undefined, damaged).to.equal(isObject(damaged))
      }
    }
  })

  it('refuses every incomplete object', () => {
    const text = '{"a":[{"b":"x\\"y"},1.5e3,true],"c":null}'
    for (let length = 0; length < text.length; length++)
      expect(fault(text.slice(0, length)), text.slice(0, length)).to.equal('syntax')
  })

  for (const text of ['[]', '[{"a":1}]', '"a"', '7', 'null', 'true', '\uFEFF{}', '\0{}', '()']) {
    it(`reports that ${JSON.stringify(text)} is not an object`, () => {
      expect(fault(text)).to.equal('not_an_object')
    })
  }

  for (const text of [
    '',
    ' \n',
    '{}{}',
    '{} x',
    '{}\0',
    '{a:1}',
    "{'a':1}",
    '{"a":1,}',
    '{"a" 1}',
    '{"a":}',
    '{"a":nul}',
    '{"a":-}',
  ]) {
    it(`reports that ${JSON.stringify(text)} is invalid`, () => {
      expect(fault(text)).to.equal('syntax')
    })
  }

  for (const text of ['{"\\x":1}', '{"\\u00":1}', '{"\\"}']) {
    it(`reports that the key of ${text} is invalid`, () => {
      expect(fault(text)).to.equal('syntax')
    })
  }

  it('does not check the contents of strings and numbers', () => {
    for (const inside of ['"a\nb"', '"\\x"', '1.2.3', '00']) expect(fault(`{"a":${inside}}`)).to.equal(undefined)
  })

  it('refuses more objects and arrays than can be parsed quickly, in one member or in several', () => {
    const parts = (count: number) => Array.from({ length: count }, () => '{}').join()
    const half = MAX_PARTS / 2
    for (const [taken, refused] of [
      [`{"a":[${parts(MAX_PARTS - 2)}],"b":[]}`, `{"a":[${parts(MAX_PARTS - 1)}],"b":[]}`],
      [`{"a":[${parts(half - 1)}],"b":[${parts(half - 1)}]}`, `{"a":[${parts(half - 1)}],"b":[${parts(half)}]}`],
    ] as const) {
      expect(fault(taken)).to.equal(undefined)
      expect(fault(refused)).to.equal('too_many_parts')
      expect(fault(taken), 'each body is counted by itself').to.equal(undefined)
    }
  })

  it(`accepts ${MAX_DEPTH} levels below the top, and reports the next as too deep before it scans on`, () => {
    for (const [open, close] of [
      ['[', ']'],
      ['{"x":', '}'],
    ] as const) {
      const nested = (depth: number): string => `{"a":${open.repeat(depth)}0${close.repeat(depth)}}`
      expect(fault(nested(MAX_DEPTH))).to.equal(undefined)
      expect(fault(nested(MAX_DEPTH + 1))).to.equal('too_deep')
      expect(fault(`{"a":${open.repeat(MAX_DEPTH + 1)}`)).to.equal('too_deep')
    }
  })

  it('accepts 256 members, and reports more as too many', () => {
    const wide = (count: number): string => `{${Array.from({ length: count }, (_, index) => `"${index}":0`).join()}}`
    expect(scan(wide(256))).to.have.length(256)
    expect(fault(wide(257))).to.equal('too_many_members')
  })

  it('finds the end of a string with backslashes at any position', () => {
    // Around the length from which on the search changes from a loop to a native one, and back.
    for (let before = 56; before < 72; before++) {
      for (let slashes = 0; slashes < 6; slashes++) {
        const string = `"${'x'.repeat(before)}${'\\'.repeat(slashes)}${slashes % 2 === 0 ? '' : '"'}"`
        expect(membersByParser(`{"a":${string},"b":1}`)).to.deep.equal([
          ['a', JSON.parse(string)],
          ['b', 1],
        ])
      }
    }
  })
})
