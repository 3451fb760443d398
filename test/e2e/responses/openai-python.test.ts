import { expect } from 'chai'
import { FIN, openaiReply, sse } from '../../../core/testing/kit.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { OpenAIPython } from '../sdk/openai-python.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

const ASKED = { model: 'open/gpt', input: 'How is the weather?' }

describeWith('python', 'openai-python, at /v1/responses', () => {
  let fixture: ResponsesFixture
  let python: OpenAIPython

  before(async () => {
    fixture = await startFixture()
    python = new OpenAIPython(find('python')!, { baseURL: `${fixture.gateway.url}/v1`, apiKey: fixture.gateway.liveKey })
  })

  after(async () => {
    await python?.close()
    await fixture?.stop()
  })

  it('throws for a broken stream', async () => {
    fixture.open.reply(sse([...openaiReply({ text: 'Hello' }).stream.slice(0, 2), FIN]))
    const { chunks, error } = await python.do('listen', ASKED)
    expect(chunks.map((event) => (event as unknown as { type: string }).type)).to.include('response.output_text.delta')
    expect(error).to.include({ class: 'APIError', code: 'upstream_disconnected' })
  })

  it('throws what is refused by class and code', async () => {
    const { error } = await python.do('respond', { ...ASKED, previous_response_id: 'resp_1' })
    expect(error).to.include({ class: 'BadRequestError', code: 'previous_response_not_found', status: 400 })
  })
})
