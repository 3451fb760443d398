import { expect } from 'chai'
import { mediaIn } from '../../../core/protocol/media.ts'

const of = (body: unknown) => mediaIn(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)))

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

  it('are not what a text says of them', () => {
    expect(of({ prompt: JSON.stringify({ type: 'image_url', image_url: { url: 'x' } }), image_url: 1 })).to.deep.equal({
      pictures: 0,
      files: 0,
    })
  })

  it('are not hidden by escapes or spaces', () => {
    expect(of('{"type" : "im\\u0061ge_url" }').pictures).to.equal(1)
    expect(of('{"type":"image_url"\n}').pictures).to.equal(1)
  })
})
