import { expect } from 'chai'
import { countOf, readDataUrl, textOf } from 'unified-model-gateway/plugin'

describe('readDataUrl', () => {
  for (const [url, expected] of [
    ['data:image/png;base64,QQ==', { mediaType: 'image/png', data: 'QQ==' }],
    ['DATA:Image/PNG;Base64,QQ==', { mediaType: 'image/png', data: 'QQ==' }],
    ['data:text/plain;charset=utf-8;base64,QQ==', { mediaType: 'text/plain', data: 'QQ==' }],
    ['data: image/png ; base64 ,QQ==', { mediaType: 'image/png', data: 'QQ==' }],
    ['data:;base64,', { mediaType: '', data: '' }],
    ['data:text/plain,hello', undefined],
    ['data:image/png;base64', undefined],
    ['https://example.com/a.png', undefined],
    ['', undefined],
  ] as const) {
    it(`reads '${url}' as ${expected ? JSON.stringify(expected) : 'undefined'}`, () => {
      expect(readDataUrl(url)).to.deep.equal(expected)
    })
  }
})

describe('textOf and countOf', () => {
  it('read a string, and a positive integer', () => {
    expect(textOf('a')).to.equal('a')
    expect(countOf(7)).to.equal(7)
  })

  it('replace any other value', () => {
    for (const value of [undefined, null, 7, {}, ['a']]) expect(textOf(value)).to.equal('')
    for (const value of [undefined, null, '7', -7, 1.5, 2 ** 53, Number.NaN]) expect(countOf(value)).to.equal(0)
  })
})
