import { expect } from 'chai'
import { GatewayError } from 'unified-model-gateway/plugin'
import { blocksOf, translate, upstream } from './support.ts'

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const file = (file_data: string, filename?: string) => ({ type: 'file', file: { file_data, ...(filename && { filename }) } })
const text = { type: 'text', text: 'What is this?' }
const pdf = 'data:application/pdf;base64,JVBERi0='

const translated = async (...parts: object[]) => blocksOf(await translate({ messages: [{ role: 'user', content: parts }] }))

async function refusalOf(part: object): Promise<GatewayError> {
  const failure: unknown = await translated(text, part).catch((error: unknown) => error)
  expect(failure).to.be.instanceOf(GatewayError)
  return failure as GatewayError
}

describe('bedrock: images', () => {
  it('a data URL is sent as bytes with their format', async () => {
    for (const [type, format] of [
      ['image/png', 'png'],
      ['image/jpeg', 'jpeg'],
      ['image/jpg', 'jpeg'],
      ['IMAGE/GIF', 'gif'],
      ['image/webp', 'webp'],
    ]) {
      expect(await translated(image(`data:${type};base64,QUJD`))).to.deep.equal([
        { image: { format, source: { bytes: 'QUJD' } } },
      ])
    }
  })

  it('an address is refused, also of S3', async () => {
    for (const url of ['https://example.com/a.png', 'http://example.com/a.png', 's3://bucket/a.png']) {
      const refusal = await refusalOf(image(url))
      expect(refusal).to.include({ status: 400, row: 'unsupported_parameter', param: 'messages[0].content[1].image_url.url' })
      expect(refusal.message).to.contain('send a base64 data URL')
    }
  })

  it('other types and invalid URLs are refused and their path is named', async () => {
    expect((await refusalOf(image('data:image/tiff;base64,QQ=='))).message).to.contain('PNG, JPEG, GIF and WebP')
    expect(await refusalOf(image('QUJD'))).to.include({ row: 'invalid_value' })
    expect(await refusalOf(image('data:image/png,abc'))).to.include({ row: 'invalid_value' })
  })
})

describe('bedrock: files', () => {
  const namesOf = async (...names: (string | undefined)[]) => {
    const blocks = await translated(text, ...names.map((name) => file(pdf, name)))
    return blocks.flatMap((block) => ('document' in block ? [block.document.name] : []))
  }

  it('a file is sent as a document with its format', async () => {
    for (const [type, format] of [
      ['application/pdf', 'pdf'],
      ['text/csv', 'csv'],
      ['text/markdown', 'md'],
      ['text/plain', 'txt'],
      ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'docx'],
    ]) {
      expect(await translated(text, file(`data:${type};base64,QUJD`, 'report.x'))).to.deep.equal([
        { text: 'What is this?' },
        { document: { format, name: 'report', source: { bytes: 'QUJD' } } },
      ])
    }
  })

  it('invalid characters of a name are replaced', async () => {
    expect(await namesOf("John's  report (final) [v2].PDF")).to.deep.equal(['John s report (final) v2'])
    expect(await namesOf('a_b-c.tar.gz')).to.deep.equal(['a b-c tar'])
    expect(await namesOf('x'.repeat(500))).to.deep.equal(['x'.repeat(192)])
  })

  it('a name without valid characters becomes “document”', async () => {
    expect(await namesOf('分기.pdf', '.pdf', undefined)).to.deep.equal(['document', 'document [2]', 'document [3]'])
  })

  it('names are unique over all turns', async () => {
    expect(await namesOf('Report.pdf', 'report.docx', 'report [2].pdf', 'report 2.pdf', 'report.pdf')).to.deep.equal([
      'Report',
      'report [2]',
      'report 2',
      'report 2 [2]',
      'report [3]',
    ])
    const messages = [
      { role: 'user', content: [text, file(pdf, 'a.pdf')] },
      { role: 'assistant', content: 'A.' },
      { role: 'user', content: [text, file(pdf, 'a.pdf')] },
    ]
    const blocks = blocksOf(await translate({ messages }))
    expect(blocks.flatMap((block) => ('document' in block ? [block.document.name] : []))).to.deep.equal(['a', 'a [2]'])
  })

  it('unsupported files and file ids are refused', async () => {
    expect((await refusalOf(file('data:application/zip;base64,QQ=='))).message).to.contain('pdf, csv, doc')
    expect(await refusalOf({ type: 'file', file: { file_id: 'file-1' } })).to.include({
      param: 'messages[0].content[1].file.file_id',
    })
    expect(await refusalOf(file('https://example.com/a.pdf'))).to.include({ row: 'unsupported_parameter' })
  })
})

describe('bedrock: sound', () => {
  it('wav and mp3 are sent', async () => {
    const sound = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'wav' } }
    expect(await translated(sound)).to.deep.equal([{ audio: { format: 'wav', source: { bytes: 'QUJD' } } }])
  })

  it('other formats are refused', async () => {
    const sound = { type: 'input_audio', input_audio: { data: 'QUJD', format: 'aiff' } }
    expect((await refusalOf(sound)).message).to.contain('Send wav or mp3.')
  })
})

describe('bedrock: tool results', () => {
  const answered = (content: readonly object[]) =>
    translate({
      messages: [
        { role: 'user', content: '?' },
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content },
      ],
    })

  it('may have images and files', async () => {
    const request = await answered([text, image('data:image/png;base64,QQ=='), file(pdf, 'a.pdf')])
    expect(blocksOf(request)[2]).to.deep.equal({
      toolResult: {
        toolUseId: 'a',
        content: [
          { text: 'What is this?' },
          { image: { format: 'png', source: { bytes: 'QQ==' } } },
          { document: { format: 'pdf', name: 'a', source: { bytes: 'JVBERi0=' } } },
        ],
      },
    })
  })

  it('cannot have sound', async () => {
    const failure: unknown = await answered([{ type: 'input_audio', input_audio: { data: 'QQ==', format: 'wav' } }]).catch(
      (error: unknown) => error,
    )
    expect(String(failure)).to.contain('Tools answer with text, images and files.')
  })
})

describe('bedrock: prompt caching', () => {
  const marked = { type: 'text', text: 'Long.', prompt_cache_breakpoint: { mode: 'explicit' } }
  const point = { cachePoint: { type: 'default' } }

  it('a marked part is followed by a cache point', async () => {
    const { system, messages } = await translate({
      messages: [
        { role: 'system', content: [marked, text] },
        { role: 'user', content: [marked, text] },
      ],
    })
    expect(system).to.deep.equal([{ text: 'Long.' }, point, { text: 'What is this?' }])
    expect(messages[0]!.content).to.deep.equal([{ text: 'Long.' }, point, { text: 'What is this?' }])
  })

  it('the cache point of a tool result follows the result', async () => {
    const { messages } = await translate({
      messages: [
        { role: 'user', content: '?' },
        { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] },
        { role: 'tool', tool_call_id: 'a', content: [marked, text] },
      ],
    })
    const content = [{ text: 'Long.' }, { text: 'What is this?' }]
    expect(messages[2]!.content).to.deep.equal([{ toolResult: { toolUseId: 'a', content } }, point])
  })

  it('above four are named if a client marked them as for Anthropic', async () => {
    const own = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } }
    const dropped = async (count: number) =>
      (await upstream({ messages: [{ role: 'user', content: Array.from({ length: count }, () => own) }] })).dropped
    expect([await dropped(4), await dropped(7)]).to.deep.equal([[], ['cache_control']])
  })

  it('only the latest four cache points are sent', async () => {
    const { system, messages } = await translate({
      messages: [
        { role: 'system', content: [marked, marked] },
        { role: 'user', content: [marked, marked] },
        { role: 'assistant', content: [marked] },
        { role: 'user', content: [marked] },
      ],
    })
    expect(system).to.deep.equal([{ text: 'Long.' }, { text: 'Long.' }])
    expect(messages.flatMap(({ content }) => content).filter((block) => 'cachePoint' in block)).to.have.length(4)
  })

  it('a blank text and a model without caching have none', async () => {
    const blank = { ...marked, text: ' ' }
    expect(await translated(blank, text)).to.deep.equal([{ text: 'What is this?' }])
    const request = await translate({ model: 'meta.llama3-3-70b-instruct-v1:0', messages: [{ role: 'user', content: [marked] }] })
    expect(blocksOf(request)).to.deep.equal([{ text: 'Long.' }])
  })
})
