import { expect } from 'chai'
import { readDataUrl } from 'unified-model-gateway/plugin'

describe('a data URL', () => {
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
    it(`${url || 'of nothing'} is ${expected ? JSON.stringify(expected) : 'none'}`, () => {
      expect(readDataUrl(url)).to.deep.equal(expected)
    })
  }
})
