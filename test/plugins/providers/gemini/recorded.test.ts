import { expect } from 'chai'
import { gather } from 'unified-model-gateway/plugin/testing'
import { toRefusal } from '../../../../plugins/providers/gemini/refusal.ts'
import { recorded } from '../../openai-compatible/recorded.ts'
import { complete, listen } from './gemini.ts'

/** The events of a recorded stream, whose lines are their data. */
const events = (name: string, test: Mocha.Context) =>
  recorded(name, test)
    .split('\n')
    .filter(Boolean)
    .map((data) => `data: ${data}\r\n\r\n`)

describe('gemini: recorded replies', () => {
  for (const [name, content, tokens] of [
    ['google-text', /^There are \*\*3\*\* r's in strawberry\./, { prompt_tokens: 9, completion_tokens: 272, total_tokens: 281 }],
    [
      'google-reasoning',
      /^There are \*\*3\*\* "r"s in strawberry\./,
      { prompt_tokens: 9, completion_tokens: 311, total_tokens: 320 },
    ],
  ] as const) {
    it(`${name}.json reads well`, async function () {
      const { id, choices, usage } = await complete(JSON.parse(recorded(`${name}.json`, this)))
      expect(choices[0]!.message.content).to.match(content)
      expect(choices[0]!.finish_reason).to.equal('stop')
      expect(usage).to.include(tokens)
      expect(id).to.match(/^[\w-]{23}$/)
    })

    it(`${name}.chunks.txt reads well`, async function () {
      const { chunks, done, usage } = await listen(events(`${name}.chunks.txt`, this))
      const { choices } = gather(chunks)
      expect(done).to.equal(true)
      expect(choices).to.have.lengthOf(1)
      expect(choices[0]!.content).to.match(/^There are \*\*3\*\* "?r"?'?s in strawberry\./)
      expect(choices[0]!.finish).to.equal('stop')
      expect(usage!.total_tokens).to.equal(usage!.prompt_tokens + usage!.completion_tokens)
      expect(usage!.completion_tokens_details!.reasoning_tokens).to.be.greaterThan(100)
    })
  }

  it('google-tool-call.json reads well', async function () {
    const { choices, usage } = await complete(JSON.parse(recorded('google-tool-call.json', this)))
    const [call] = choices[0]!.message.tool_calls!
    expect(call!.function).to.deep.equal({ name: 'weather', arguments: '{"location":"San Francisco"}' })
    expect(call!.extra_content)
      .to.have.nested.property('google.thought_signature')
      .that.matches(/^EskgCsYgAb4/)
    expect(choices[0]!).to.nested.include({ 'message.content': null, finish_reason: 'tool_calls' })
    expect(usage).to.include({ prompt_tokens: 29, completion_tokens: 908, total_tokens: 937 })
  })

  it('google-tool-call.chunks.txt reads well', async function () {
    const { chunks } = await listen(events('google-tool-call.chunks.txt', this))
    const { tools, content, finish } = gather(chunks).choices[0]!
    expect(tools).to.have.lengthOf(1)
    expect(tools[0]).to.include({
      id: 'call_b36LacjwM668nsEP2tbsgQQ_0_0',
      name: 'weather',
      arguments: '{"location":"San Francisco"}',
    })
    expect(tools[0]!.extra_content)
      .to.have.nested.property('google.thought_signature')
      .that.matches(/^EqUCCqICAb4/)
    expect({ content, finish }).to.deep.equal({ content: '', finish: 'tool_calls' })
  })

  it('google-429-retry-info.json reads well', function () {
    const body = recorded('google-429-retry-info.json', this)
    expect(toRefusal({ status: 429, body })).to.deep.equal({
      status: 429,
      message: 'You exceeded your current quota, please check your plan.',
      retryAfter: 34.4,
    })
  })
})
