import { expect } from 'chai'
import { FIN, json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { OpenAIPython } from '../sdk/openai-python.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

const TOOL = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: false }
const ASKED = { model: 'open/gpt', input: 'How is the weather?', tools: [TOOL] }

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

  for (const [task, streamed] of [
    ['respond', ''],
    ['follow', ', from a stream'],
  ] as const) {
    it(`completes a loop of tools${streamed}`, async () => {
      const { open } = fixture
      const answer = (says: Parameters<typeof openaiReply>[0]) => {
        const { whole, stream } = openaiReply(says)
        return open.reply(task === 'respond' ? json(whole) : sse(stream))
      }
      answer({ reasoning: 'Hm.', tools: [{ name: 'weather', arguments: { city: 'Ulm' } }] })
      const { response } = await python.do(task, ASKED)
      expect(response!.output.map(({ type }) => type)).to.deep.equal(['reasoning', 'function_call'])
      expect(response!.usage).to.include({ input_tokens: 5, output_tokens: 2 })
      const asked = answer({ text: 'Sunny.' })
      const output = { type: 'function_call_output', call_id: 'call_1', output: 'Sun' }
      const next = await python.do(task, { ...ASKED, input: [{ role: 'user', content: 'Go.' }, ...response!.output, output] })
      expect(next.response).to.have.nested.property('output[0].content[0].text', 'Sunny.')
      const { messages } = (await asked).json() as { messages: object[] }
      expect(messages[1]).to.include({ role: 'assistant', reasoning_content: 'Hm.' })
    })
  }

  it('throws for a broken stream', async () => {
    fixture.open.reply(sse([...openaiReply({ text: 'Hello' }).stream.slice(0, 2), FIN]))
    const { chunks, error } = await python.do('listen', ASKED)
    expect(chunks.map((event) => (event as unknown as { type: string }).type)).to.include('response.output_text.delta')
    expect(error).to.include({ class: 'APIError', code: 'upstream_disconnected' })
  })

  it('throws what is refused by class and code', async () => {
    const { error } = await python.do('respond', { ...ASKED, previous_response_id: 'resp_1' })
    expect(error).to.include({ class: 'BadRequestError', code: 'unsupported_parameter', status: 400 })
  })
})
