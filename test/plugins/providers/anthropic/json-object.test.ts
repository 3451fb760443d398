import { expect } from 'chai'
import { gather, runTranslator } from 'unified-model-gateway/plugin/testing'
import { message, text, tool } from './messages-api.ts'
import { anthropic, translate } from './support.ts'

const JSON_OBJECT = { response_format: { type: 'json_object' } }
const OBJECT = '{"a": "} \\" {", "b": {"c": [{}, "é"]}}'
/** What Claude may write around the object. */
const FENCED = `Here is {the} object:\n\`\`\`json\n${OBJECT}\n\`\`\`\nDone {"x": 1}.`

const provider = await anthropic()

const whole = (words: string) => runTranslator(provider, { whole: message([text(words)]).whole }, JSON_OBJECT)

async function streamed(...pieces: readonly string[]) {
  const { chunks, done } = await runTranslator(provider, { stream: message([text(...pieces)]).stream! }, JSON_OBJECT)
  const { content, finish } = gather(chunks).choices[0]!
  return { content, finish, done }
}

describe('anthropic: response_format json_object', () => {
  it('asks for the object in the system prompt', async () => {
    const { system, messages, output_config } = await translate({
      ...JSON_OBJECT,
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'user', content: 'Hi' },
      ],
    })
    expect(system).to.match(/^Be brief\.\nAnswer with a single JSON object/)
    expect(messages).to.have.length(1)
    expect(output_config).to.equal(undefined)
  })

  it('is served by models without structured outputs too', async () => {
    expect((await translate({ model: 'claude/claude-3-5-haiku', ...JSON_OBJECT })).system).to.contain('JSON object')
  })

  it('answers with the object alone', async () => {
    for (const words of [OBJECT, `\n${OBJECT}\n`, FENCED]) {
      const { choices } = await whole(words)
      expect(choices[0]!.message.content).to.equal(OBJECT)
      expect(choices[0]!.finish_reason).to.equal('stop')
    }
  })

  it('streams the object alone, wherever its text is cut', async () => {
    for (let at = 1; at < FENCED.length; at++) {
      const heard = await streamed(FENCED.slice(0, at), FENCED.slice(at))
      expect(heard, `cut at ${at}`).to.deep.equal({ content: OBJECT, finish: 'stop', done: true })
    }
    expect((await streamed(...FENCED)).content).to.equal(OBJECT)
  })

  it('has the empty object', async () => {
    expect((await whole('```json\n{ }\n```')).choices[0]!.message.content).to.equal('{ }')
    expect((await streamed('{', ' ', '}')).content).to.equal('{ }')
  })

  it('keeps a text without an object', async () => {
    for (const words of ['I cannot help with that.', 'Use {name} and {', '']) {
      expect((await whole(words)).choices[0]!.message.content).to.equal(words)
    }
    expect(await streamed('I cannot ', 'help {with} that.')).to.include({ content: 'I cannot help {with} that.', finish: 'stop' })
  })

  it('keeps an object that was cut, and says so', async () => {
    const cut = message([text('```json\n{"a": [1, ', '2')], { stop_reason: 'max_tokens' })
    const { chunks } = await runTranslator(provider, { stream: cut.stream! }, JSON_OBJECT)
    expect(gather(chunks).choices[0]).to.include({ content: '{"a": [1, 2', finish: 'length' })
  })

  it('keeps tool calls, with the text before them', async () => {
    const calling = message([text('Let me look.'), tool('toolu_1', 'look', '{"at":"sea"}')], { stop_reason: 'tool_use' })
    const { chunks } = await runTranslator(provider, { stream: calling.stream! }, JSON_OBJECT)
    const { content, tools, finish } = gather(chunks).choices[0]!
    expect({ content, finish, called: tools.map((one) => one.arguments) }).to.deep.equal({
      content: 'Let me look.',
      finish: 'tool_calls',
      called: ['{"at":"sea"}'],
    })
    const { choices } = await runTranslator(provider, { whole: calling.whole }, JSON_OBJECT)
    expect(choices[0]!.message.tool_calls).to.have.length(1)
  })

  it('is off for any other format', async () => {
    const { choices } = await runTranslator(
      provider,
      { whole: message([text(FENCED)]).whole },
      { response_format: { type: 'text' } },
    )
    expect(choices[0]!.message.content).to.equal(FENCED)
  })
})
