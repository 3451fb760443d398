import { expect } from 'chai'
import { setPointer } from '../../../core/protocol/json.ts'

const BODY = '{"n":1,"messages":[{"content":"a"},{"content":"b"}],"a/b":{"m~n":1},"":{"":1}}'

function set(pointer: string, value: unknown): unknown {
  const body = JSON.parse(BODY)
  setPointer(body, pointer, value)
  return body
}

describe('a JSON pointer', () => {
  for (const [what, pointer, value, expected] of [
    ['replaces a member', '/n', 2, { n: 2 }],
    ['adds a member', '/temperature', 0.5, { temperature: 0.5 }],
    ['sets null', '/n', null, { n: null }],
    ['replaces a member of an element', '/messages/1/content', 'c', { messages: [{ content: 'a' }, { content: 'c' }] }],
    ['replaces an element', '/messages/0', 'x', { messages: ['x', { content: 'b' }] }],
    ['appends by the next index', '/messages/2', 'x', { messages: [{ content: 'a' }, { content: 'b' }, 'x'] }],
    ['appends by a hyphen', '/messages/-', 'x', { messages: [{ content: 'a' }, { content: 'b' }, 'x'] }],
    ['removes an element', '/messages/0', undefined, { messages: [{ content: 'b' }] }],
    ['knows ~1 for / and ~0 for ~', '/a~1b/m~0n', 2, { 'a/b': { 'm~n': 2 } }],
    ['knows members without a name', '//', 2, { '': { '': 2 } }],
  ] as const) {
    it(what, () => {
      expect(set(pointer, value)).to.deep.equal({ ...JSON.parse(BODY), ...expected })
    })
  }

  it('removes a member, and ignores an absent one', () => {
    const { n: _, ...rest } = JSON.parse(BODY)
    expect(set('/n', undefined)).to.deep.equal(rest)
    expect(set('/not-there', undefined)).to.deep.equal(JSON.parse(BODY))
  })

  for (const pointer of ['/__proto__', '/constructor', '/toString']) {
    it(`sets ${pointer} as plain data`, () => {
      const body = set(pointer, { polluted: true }) as object
      expect(Object.hasOwn(body, pointer.slice(1))).to.equal(true)
      expect(Object.getPrototypeOf(body)).to.equal(Object.prototype)
      expect({}).to.not.have.property('polluted')
    })
  }

  for (const pointer of ['/__proto__/polluted', '/constructor/prototype/polluted', '/messages/__proto__/polluted']) {
    it(`does not follow ${pointer}`, () => {
      expect(() => set(pointer, true)).to.throw(`no such place in the body: ${pointer}`)
      expect({}).to.not.have.property('polluted')
    })
  }

  for (const pointer of ['/x/y', '/n/x', '/messages/7/content', '/messages/-/content', '/messages/length/x']) {
    it(`says that there is no ${pointer}`, () => {
      expect(() => set(pointer, 1)).to.throw(`no such place in the body: ${pointer}`)
    })
  }

  for (const index of ['3', '-1', '01', '1.0', '1e0', '0x1', ' 1', '', 'x', 'length', '__proto__']) {
    it(`says that there is no element '${index}'`, () => {
      expect(() => set(`/messages/${index}`, 1)).to.throw(`no such element: ${index}`)
    })
  }

  for (const text of ['', 'n', 'messages/0', '#/n']) {
    it(`is not '${text}'`, () => {
      expect(() => set(text, 1)).to.throw(`not a JSON pointer: ${text}`)
    })
  }
})
