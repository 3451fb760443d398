import { expect } from 'chai'
import fc from 'fast-check'
import { scanObject, spliceObject } from '../../../core/protocol/json.ts'
import { objectText } from './documents.ts'

function splice(text: string, changes: Readonly<Record<string, unknown>>): string {
  const bytes = Buffer.from(text)
  return spliceObject(bytes, scanObject(bytes).members, changes).toString()
}

/** Of keys that stand twice the last one counts, for parsers; `scanObject` leaves them to its callers, and so do these tests. */
const withoutTwins = objectText.filter((text) => {
  const keys = scanObject(Buffer.from(text)).members.map(({ key }) => key)
  return new Set(keys).size === keys.length
})

/** Changes to some of an object's members, and some new ones. */
const edited = withoutTwins.chain((text) => {
  const keys = scanObject(Buffer.from(text)).members.map(({ key }) => key)
  const key = fc.constantFrom(...keys, 'new', '__proto__', '"quoted"', 'é')
  const value = fc.oneof(fc.constant(undefined), fc.jsonValue({ maxDepth: 2 }))
  const changes = fc.array(fc.tuple(key, value), { maxLength: 4 })
  return fc.tuple(
    fc.constant(text),
    changes.map((entries) => Object.fromEntries(entries)),
  )
})

describe('a spliced JSON object', () => {
  it('equals the object that was parsed, changed and serialised', () => {
    fc.assert(
      fc.property(edited, ([text, changes]) => {
        const expected = new Map<string, unknown>(Object.entries(JSON.parse(text)))
        for (const [key, value] of Object.entries(changes)) {
          if (value === undefined) expected.delete(key)
          else expected.set(key, JSON.parse(JSON.stringify(value)))
        }
        const found = JSON.parse(splice(text, changes))
        expect(found).to.deep.equal(Object.fromEntries(expected))
      }),
      { numRuns: 500 },
    )
  })

  it('keeps the bytes and the order of all other members', () => {
    fc.assert(
      fc.property(edited, ([text, changes]) => {
        const untouched = (of: string): string[] =>
          scanObject(Buffer.from(of))
            .members.filter(({ key }) => !Object.hasOwn(changes, key))
            .map(({ at, end }) => Buffer.from(of).toString('utf8', at, end))
        expect(untouched(splice(text, changes))).to.deep.equal(untouched(text))
      }),
      { numRuns: 500 },
    )
  })

  it('has the same bytes if nothing changes', () => {
    fc.assert(
      fc.property(objectText, (text) => {
        expect(splice(text, {})).to.equal(text)
        expect(splice(text, { 'not there': undefined })).to.equal(text)
      }),
    )
  })

  for (const [what, text, changes, expected] of [
    ['a value replaced', '{ "model" : "a/b", "n":1 }', { model: 'b' }, '{ "model" : "b", "n":1 }'],
    ['a value that is not ASCII', '{"model":"ä/ö€😀","n":1}', { model: 'é' }, '{"model":"é","n":1}'],
    ['an escaped key kept as it is', '{"mod\\u0065l":"a"}', { model: 'b' }, '{"mod\\u0065l":"b"}'],
    ['a member added', '{"a":1}', { b: [2] }, '{"b":[2],"a":1}'],
    ['a member added to nothing', ' { } ', { b: 2 }, ' {"b":2 } '],
    ['the first of three removed', '{"a":1, "b":2, "c":3}', { a: undefined }, '{"b":2, "c":3}'],
    ['the middle one removed', '{"a":1, "b":2, "c":3}', { b: undefined }, '{"a":1, "c":3}'],
    ['the last one removed', '{"a":1, "b":2, "c":3 }', { c: undefined }, '{"a":1, "b":2 }'],
    ['the outer ones removed', '{"a":1, "b":2, "c":3}', { a: undefined, c: undefined }, '{"b":2}'],
    ['all but the last removed', '{"a":1, "b":2, "c":3}', { a: undefined, b: undefined }, '{"c":3}'],
    ['all removed', '{ "a":1, "b":2 }', { a: undefined, b: undefined }, '{  }'],
    ['all removed and one added', '{"a":1,"b":2}', { a: undefined, b: undefined, c: 3 }, '{"c":3}'],
    ['null, which is a value', '{"a":1}', { a: null }, '{"a":null}'],
    ['both of two twins', '{"a":1,"a":2}', { a: 3 }, '{"a":3,"a":3}'],
    ['no number touched', '{"a":1,"big":9007199254740993,"huge":1e999}', { a: 2 }, '{"a":2,"big":9007199254740993,"huge":1e999}'],
  ] as const) {
    it(`has ${what}`, () => {
      expect(splice(text, changes)).to.equal(expected)
    })
  }
})
