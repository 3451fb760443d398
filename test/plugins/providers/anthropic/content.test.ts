import { expect } from 'chai'
import { blocksOf, translate } from './support.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url, detail: 'high' } })
const file = (file: object) => ({ type: 'file', file })

async function blockOf(part: object) {
  return blocksOf(await translate({ messages: [{ role: 'user', content: [part] }] }))[0]
}

async function refusalOf(part: object): Promise<{ code: string; param: string; message: string }> {
  const failure: unknown = await blockOf(part).catch((error: unknown) => error)
  expect(failure).to.have.property('name', 'GatewayError')
  return failure as { code: string; param: string; message: string }
}

describe('anthropic: images and files', () => {
  it('an image URL is sent as a URL', async () => {
    const source = { type: 'url', url: 'https://example.com/cat.png' }
    expect(await blockOf(image('https://example.com/cat.png'))).to.deep.equal({ type: 'image', source })
  })

  it('an inline image is sent with its type', async () => {
    const source = { type: 'base64', media_type: 'image/png', data: 'iVBORw0KGgo=' }
    expect(await blockOf(image('data:image/png;base64,iVBORw0KGgo='))).to.deep.equal({ type: 'image', source })
    expect(await blockOf(image('DATA:Image/PNG;charset=x;BASE64,iVBORw0KGgo='))).to.deep.equal({ type: 'image', source })
    expect(await blockOf(image('data:image/jpg;base64,/9j/'))).to.have.nested.property('source.media_type', 'image/jpeg')
  })

  it('a PDF is sent as a document with its name', async () => {
    const data = 'JVBERi0xLjQ='
    expect(await blockOf(file({ filename: 'paper.pdf', file_data: `data:application/pdf;base64,${data}` }))).to.deep.equal({
      type: 'document',
      source: { type: 'base64', media_type: 'application/pdf', data },
      title: 'paper.pdf',
    })
    expect(await blockOf(file({ file_data: 'https://example.com/paper.pdf' }))).to.deep.equal({
      type: 'document',
      source: { type: 'url', url: 'https://example.com/paper.pdf' },
    })
  })

  it('a text file is sent as text', async () => {
    const file_data = `data:text/plain;charset=utf-8;base64,${Buffer.from('Grüße').toString('base64')}`
    expect(await blockOf(file({ filename: 'note.txt', file_data }))).to.deep.equal({
      type: 'document',
      source: { type: 'text', media_type: 'text/plain', data: 'Grüße' },
      title: 'note.txt',
    })
  })

  it('unsupported content is refused and its path is named', async () => {
    expect(await refusalOf(image('data:image/tiff;base64,SUkq'))).to.include({
      code: 'unsupported_parameter',
      param: 'messages[0].content[0].image_url.url',
    })
    expect(await refusalOf(file({ file_data: 'data:text/csv;base64,YTti' }))).to.include({
      code: 'unsupported_parameter',
      param: 'messages[0].content[0].file.file_data',
    })
    for (const other of [{ file_id: 'file-1' }, { file_id: 'file-1', file_data: null }, {}]) {
      expect(await refusalOf(file(other))).to.include({ param: 'messages[0].content[0].file.file_id' })
    }
  })

  it('sound is refused with a list of supported content', async () => {
    const refusal = await refusalOf({ type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } })
    expect(refusal).to.include({ code: 'unsupported_parameter', param: 'messages[0].content[0]' })
    expect(refusal.message).to.contain('Claude reads text, images, and files that are PDF or plain text.')
  })

  for (const url of [
    '',
    'cat.png',
    'data:image/png',
    'data:image/png,plain',
    'ftp://example.com/cat.png',
    'data:;,',
    'file:///etc/passwd',
  ]) {
    it(`the image URL '${url}' is refused with the expected form`, async () => {
      const refusal = await refusalOf(image(url))
      expect(refusal).to.include({ code: 'invalid_value', param: 'messages[0].content[0].image_url.url' })
      expect(refusal.message).to.contain('expected an http(s) URL or a base64 data URL')
    })
  }

  it('an image in instructions is refused', async () => {
    const messages = [{ role: 'system', content: [image('https://example.com/cat.png')] }]
    const failure: unknown = await translate({ messages }).catch((error: unknown) => error)
    expect(failure).to.include({ code: 'unsupported_parameter', param: 'messages[0].content' })
  })
})
