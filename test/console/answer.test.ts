import { expect } from 'chai'
import { type Answer, NO_ANSWER, parse, readStream } from '../../console/src/pages/playground/answer.ts'

const chunk = (fields: object): string => `data: ${JSON.stringify(fields)}\n\n`
const text = (content: string): string => chunk({ choices: [{ delta: { content } }] })
const DONE = 'data: [DONE]\n\n'

/** Reads a reply in these pieces. */
function read(...pieces: readonly (string | Uint8Array)[]): Promise<Answer> {
  const bytes = pieces.map((piece) => (typeof piece === 'string' ? new TextEncoder().encode(piece) : piece))
  return readStream(ReadableStream.from(bytes) as ReadableStream<Uint8Array<ArrayBuffer>>, NO_ANSWER, () => {})
}

describe('a reply in the playground', () => {
  it('has the text of its chunks, the finish reason and the usage', async () => {
    const usage = { prompt_tokens: 3, completion_tokens: 2 }
    const end = chunk({ choices: [{ delta: {}, finish_reason: 'stop' }] })
    const answer = await read(text('Hel'), text('lo'), end, chunk({ choices: [], usage }), DONE)
    expect(answer).to.include({ text: 'Hello', finish: 'stop' }).and.deep.include({ usage })
    expect(answer).to.not.have.property('error')
  })

  it('may be split anywhere, also within a character', async () => {
    const bytes = new TextEncoder().encode(text('grüße 😀') + DONE)
    for (let cut = 1; cut < bytes.length; cut++)
      expect((await read(bytes.subarray(0, cut), bytes.subarray(cut))).text).to.equal('grüße 😀')
  })

  it('has an error if the end marker is missing', async () => {
    const answer = await read(text('Hel'))
    expect(answer.text).to.equal('Hel')
    expect(answer.error).to.include('may be incomplete')
  })

  it('has the message of an error event', async () => {
    const answer = await read(text('Hel'), chunk({ error: { message: 'The upstream closed the connection.' } }))
    expect(answer.error).to.equal('The upstream closed the connection.')
  })

  it('separates reasoning from text', async () => {
    const answer = await read(chunk({ choices: [{ delta: { reasoning_content: 'Hm.' } }] }), text('Yes.'), DONE)
    expect(answer).to.include({ reasoning: 'Hm.', text: 'Yes.' })
  })

  it('has an error if it is not JSON', () => {
    expect(parse('<html>').error?.message).to.include('not JSON')
  })
})
