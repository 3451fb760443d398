import { expect } from 'chai'
import { checkBounds, eachMember, scanObject } from '../../../core/protocol/json.ts'

const of = (body: unknown) => scanObject(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body))).media

describe('the media of a body', () => {
  it('are the parts of its types, by address or as data, in all protocols', () => {
    const parts = [
      { type: 'image_url', image_url: { url: 'https://a.example/1.png' } },
      { type: 'input_image', image_url: 'data:image/png;base64,AAAA' },
      { type: 'image', source: { type: 'url', url: 'https://a.example/1.png' } },
      { type: 'document', source: { type: 'file', file_id: 'f' } },
      { type: 'text', text: 'an image' },
    ]
    // The source of a document has the type "file" too.
    expect(of({ messages: [{ role: 'user', content: parts }] })).to.deep.equal({ pictures: 3, files: 2 })
  })

  it('are not what a text says of them, or another member', () => {
    const prompt = JSON.stringify({ type: 'image_url', image_url: { url: 'x' } })
    const schema = { type: 'string', enum: ['image', 'video', 'image'], default: 'image' }
    const content = [
      { type: 'text', text: 'image' },
      { type: 'text', text: '\u0001image' },
      { role: 'image', type: 'images' },
    ]
    expect(of({ prompt, image_url: 1, type: 'text', schema: { type: schema }, content })).to.deep.equal({ pictures: 0, files: 0 })
  })

  it('are not hidden by escapes, spaces or case', () => {
    const letters = [...'video_url'].map((letter) => `\\u00${letter.charCodeAt(0).toString(16)}`).join('')
    const parts = [
      '{"type" : "im\\u0061ge_url" }',
      '{"type":"image_url"\n}',
      '{"Type":"image"}',
      '{"t\\u0079pe":"image"}',
      '{"\\u0054\\u0059\\u0050\\u0045":"image"}',
      '{"type":"text","type":"image"}',
    ]
    for (const part of parts) expect(of(`{"messages":[${part}]}`), part).to.deep.equal({ pictures: 1, files: 0 })
    expect(of(`{"input":{"type":"${letters}"}}`)).to.deep.equal({ pictures: 0, files: 1 })
  })

  it('are those of each body alone', () => {
    const body = Buffer.from('{"a":{"type":"image","b":{"type":"image"}}}')
    const { media, members } = scanObject(body)
    eachMember(body, members[0]!.start, () => {})
    checkBounds(body, 10)
    expect(media).to.deep.equal({ pictures: 2, files: 0 })
    // At the offset at which the type stands in the body before.
    expect(of('{"a":{"name":"image"}}')).to.deep.equal({ pictures: 0, files: 0 })
  })
})
