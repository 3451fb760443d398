import { expect } from 'chai'
import { type Answer, NO_ANSWER, parse, readStream } from '../../console/src/pages/playground/answer.ts'

const chunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`
const text = (content: string): string => chunk({ choices: [{ delta: { content } }] })
const DONE = 'data: [DONE]\n\n'

/** What the page shows of a reply that arrives in these pieces. */
function read(...pieces: readonly (string | Uint8Array)[]): Promise<Answer> {
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  return readStream(ReadableStream.from(bytes) as ReadableStream<Uint8Array<ArrayBuffer>>, NO_ANSWER, () => {})
}

describe('an answer in the playground', () => {
  it('is the texts of its chunks, with finish and usage', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const end = chunk({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    const answer = await read(text('Hel'), text('lo'), end, chunk({ choices: [], usage }), DONE)
    expect(answer).to.include({ text: 'Hello', finish: 'stop' }).and.deep.include({ usage })
    expect(answer).to.not.have.property('error')
  })

  it('may be cut anywhere on its way, within a letter too', async () => {
    const bytes = new TextEncoder().encode(text('grüße 😀') + DONE)
    for (let cut = 1; cut < bytes.length; cut++)
      expect((await read(bytes.subarray(0, cut), bytes.subarray(cut))).text).to.equal('grüße 😀')
  })

  it('is told to be cut where its end marker is missing', async () => {
    const answer = await read(text('Hel'))
    expect(answer.text).to.equal('Hel')
    expect(answer.error).to.include('may be incomplete')
  })

  it('tells of an error frame in the words of the gateway', async () => {
    const answer = await read(text('Hel'), chunk({ error: { message: 'The upstream closed the connection.' } }))
    expect(answer.error).to.equal('The upstream closed the connection.')
  })

  it('keeps reasoning apart', async () => {
    const answer = await read(chunk({ choices: [{ delta: { reasoning_content: 'Hm.' } }] }), text('Yes.'), DONE)
    expect(answer).to.include({ reasoning: 'Hm.', text: 'Yes.' })
  })

  it('says so where the reply is no JSON', () => {
    expect(parse('<html>').error?.message).to.include('not JSON')
  })
})
