import { expect } from 'chai'
import { runTranslator } from 'unified-model-gateway/plugin/testing'
import { bedrock, fixture, hear, translate, upstream } from './support.ts'

const HAIKU_4_5 = 'global.anthropic.claude-haiku-4-5-20251001-v1:0'
const OPUS_4_7 = 'us.anthropic.claude-opus-4-7'
const OPUS_5 = 'us.anthropic.claude-opus-5'
const FABLE_5 = 'us.anthropic.claude-fable-5'
const NOVA_2 = 'us.amazon.nova-2-lite-v1:0'
const GPT_OSS = 'openai.gpt-oss-120b-1:0'
const DEEPSEEK = 'deepseek.v3-v1:0'

/** Per model and effort: the expected `additionalModelRequestFields`. */
const TOLD: readonly (readonly [model: string, effort: string, fields: object | undefined])[] = [
  [OPUS_4_7, 'minimal', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } }],
  [OPUS_4_7, 'xhigh', { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'xhigh' } }],
  [
    'us.anthropic.claude-opus-4-6-v1',
    'xhigh',
    { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
  ],
  [OPUS_4_7, 'none', undefined],
  [OPUS_5, 'none', { thinking: { type: 'disabled' } }],
  ['us.anthropic.claude-sonnet-5-5', 'none', { thinking: { type: 'between_tools' } }],
  [FABLE_5, 'none', { output_config: { effort: 'low' } }],
  [HAIKU_4_5, 'none', undefined],
  [HAIKU_4_5, 'medium', { thinking: { type: 'enabled', budget_tokens: 5000 } }],
  [HAIKU_4_5, 'minimal', { thinking: { type: 'enabled', budget_tokens: 1024 } }],
  [NOVA_2, 'low', { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'low' } }],
  [NOVA_2, 'none', undefined],
  [GPT_OSS, 'max', { reasoning_effort: 'high' }],
  [GPT_OSS, 'none', { reasoning_effort: 'low' }],
  [DEEPSEEK, 'high', { reasoning_effort: 'high' }],
  [DEEPSEEK, 'none', undefined],
]

describe('bedrock: reasoning_effort', () => {
  for (const [model, effort, fields] of TOLD) {
    it(`${effort} for ${model}`, async () => {
      const request = await translate({ model, reasoning_effort: effort, max_tokens: 10_000 })
      expect(request.additionalModelRequestFields).to.deep.equal(fields)
    })
  }

  it('a number of tokens that cannot be sent to Claude 4.6 is an effort, and named', async () => {
    const asked = { model: 'us.anthropic.claude-opus-4-6-v1', thinking: { type: 'enabled', budget_tokens: 3000 } }
    const { body, dropped } = await upstream({ ...asked, max_tokens: 1000 })
    expect(JSON.parse(String(body)).additionalModelRequestFields).to.deep.equal({
      thinking: { type: 'adaptive', display: 'summarized' },
      output_config: { effort: 'low' },
    })
    expect(dropped).to.deep.equal(['thinking'])
  })

  it('is not sent by default', async () => {
    for (const model of [OPUS_4_7, FABLE_5, HAIKU_4_5, NOVA_2, GPT_OSS]) {
      expect(await translate({ model })).not.to.have.property('additionalModelRequestFields')
    }
  })

  it('is dropped for a model without reasoning', async () => {
    expect((await upstream({ model: 'amazon.nova-pro-v1:0', reasoning_effort: 'high' })).dropped).to.deep.equal([
      'reasoning_effort',
    ])
    expect((await upstream({ model: 'amazon.nova-pro-v1:0', reasoning_effort: 'none' })).dropped).to.deep.equal([])
  })

  it('is refused if unknown', async () => {
    const failure: unknown = await translate({ reasoning_effort: 'heroic' }).catch((error: unknown) => error)
    expect(String(failure)).to.contain('expected one of none, minimal')
  })

  it("is a share of the reply's tokens for models with a budget, with maxTokens", async () => {
    const { inferenceConfig, additionalModelRequestFields } = await translate({ model: HAIKU_4_5, reasoning_effort: 'low' })
    expect(inferenceConfig).to.deep.equal({ maxTokens: 64_000 })
    expect(additionalModelRequestFields).to.deep.equal({ thinking: { type: 'enabled', budget_tokens: 12_800 } })
  })

  it('is dropped if the reply is too short, a tool is required, or the step began without reasoning', async () => {
    const tools = [{ type: 'function', function: { name: 'look' } }]
    const step = [
      { role: 'user', content: '?' },
      { role: 'assistant', tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'Blue' },
    ]
    for (const more of [{ max_tokens: 1024 }, { tools, tool_choice: 'required' }, { tools, messages: step }]) {
      const { body, dropped } = await upstream({ model: HAIKU_4_5, reasoning_effort: 'high', ...more })
      expect(dropped).to.deep.equal(['reasoning_effort'])
      expect(JSON.parse(String(body))).not.to.have.nested.property('additionalModelRequestFields.thinking')
    }
  })

  it('is lowered for Nova if the request has a limit', async () => {
    const limited = await translate({ model: NOVA_2, reasoning_effort: 'high', max_tokens: 500, temperature: 0.5 })
    expect(limited.additionalModelRequestFields).to.have.nested.property('reasoningConfig.maxReasoningEffort', 'medium')
    expect(limited.inferenceConfig).to.deep.equal({ maxTokens: 500, temperature: 0.5 })
    const { body, dropped } = await upstream({ model: NOVA_2, reasoning_effort: 'high', temperature: 0.5 })
    expect(JSON.parse(String(body)).additionalModelRequestFields.reasoningConfig.maxReasoningEffort).to.equal('high')
    expect(JSON.parse(String(body))).not.to.have.property('inferenceConfig')
    expect(dropped).to.deep.equal(['temperature'])
  })
})

describe('bedrock: sampling', () => {
  const sampled = async (model: string, body: object) => {
    const { body: sent, dropped } = await upstream({ model, ...body })
    return { ...JSON.parse(String(sent)).inferenceConfig, dropped }
  }

  it('a temperature above 1 is sent as 1', async () => {
    expect(await sampled('amazon.nova-pro-v1:0', { temperature: 1.7, top_p: 0.5 })).to.deep.equal({
      temperature: 1,
      topP: 0.5,
      dropped: [],
    })
    expect(await sampled('amazon.nova-pro-v1:0', { temperature: 0 })).to.deep.equal({ temperature: 0, dropped: [] })
  })

  it('a model that takes one of both gets the temperature; a value of 1 is omitted', async () => {
    expect(await sampled(HAIKU_4_5, { temperature: 0.3, top_p: 0.5 })).to.deep.equal({ temperature: 0.3, dropped: ['top_p'] })
    expect(await sampled(HAIKU_4_5, { temperature: 1, top_p: 0.5 })).to.deep.equal({ topP: 0.5, dropped: [] })
    expect(await sampled(HAIKU_4_5, { temperature: 0.3, top_p: 1 })).to.deep.equal({ temperature: 0.3, dropped: [] })
  })

  it('both are dropped for a model that takes neither, or that reasons', async () => {
    expect(await sampled(OPUS_4_7, { temperature: 0.3, top_p: 0.5 })).to.deep.equal({ dropped: ['temperature', 'top_p'] })
    expect(await sampled(OPUS_4_7, { temperature: 1, top_p: 1 })).to.deep.equal({ dropped: [] })
    expect(await sampled(HAIKU_4_5, { temperature: 0.3, reasoning_effort: 'low', max_tokens: 9000 })).to.deep.equal({
      maxTokens: 9000,
      dropped: ['temperature'],
    })
  })

  it('blank stop sequences are dropped', async () => {
    expect(await sampled(OPUS_4_7, { stop: ['\n', 'END'] })).to.deep.equal({ stopSequences: ['END'], dropped: ['stop'] })
    expect(await sampled(OPUS_4_7, { stop: 'END' })).to.deep.equal({ stopSequences: ['END'], dropped: [] })
    expect(await sampled(OPUS_4_7, { stop: null })).to.deep.equal({ dropped: [] })
  })
})

const US_HAIKU_4_5 = 'us.anthropic.claude-haiku-4-5-20251001-v1:0'
const SEALED = [
  { reasoningContent: { reasoningText: { text: 'First the sea.', signature: 'EqQBCkYI' } } },
  { reasoningContent: { redactedContent: Buffer.from('sealed').toString('base64') } },
]
const AGAIN = { reasoningContent: { reasoningText: { text: '', signature: 'ErUB' } } }

/** The conversation after a client ran the tools of the fixture. */
async function secondTurn() {
  const { content, tools } = await hear(fixture('reasoning-before-tools'), { model: `aws/${OPUS_4_7}` })
  const tool_calls = tools.map(({ id, name, arguments: text, extra_content }) => ({
    id,
    type: 'function',
    function: { name, arguments: text },
    extra_content,
  }))
  return [
    { role: 'user', content: 'How is it outside?' },
    { role: 'assistant', content, tool_calls },
    ...tools.map(({ id }) => ({ role: 'tool', tool_call_id: id, content: 'Blue' })),
  ]
}

const kinds = (content: readonly object[]) => content.map((block) => Object.keys(block)[0])

describe('bedrock: thinking state', () => {
  it('a streamed tool call has the reasoning before it', async () => {
    const { tools } = await hear(fixture('reasoning-before-tools'), { model: `aws/${OPUS_4_7}` })
    expect(tools.map(({ extra_content }) => extra_content)).to.deep.equal([
      { bedrock: { model: OPUS_4_7, reasoning: SEALED } },
      { bedrock: { model: OPUS_4_7, reasoning: [AGAIN] } },
    ])
  })

  it('a whole reply has the same thinking state', async () => {
    const look = (toolUseId: string) => ({ toolUse: { toolUseId, name: 'look', input: {} } })
    const content = [...SEALED, look('a'), look('b')]
    const reply = { output: { message: { role: 'assistant', content } }, stopReason: 'tool_use' }
    const { choices } = runTranslator(await bedrock(), { whole: reply }, { model: `aws/${OPUS_4_7}` })
    expect(choices[0]?.message.tool_calls?.map(({ extra_content }) => extra_content)).to.deep.equal([
      { bedrock: { model: OPUS_4_7, reasoning: SEALED } },
      undefined,
    ])
  })

  it('the next turn sends it back unchanged, before its call', async () => {
    const { messages } = await translate({ model: OPUS_4_7, reasoning_effort: 'high', messages: await secondTurn() })
    expect(messages[1]!.content).to.deep.equal([
      ...SEALED,
      { text: 'I look.' },
      { toolUse: { toolUseId: 'tooluse_A', name: 'look', input: { at: 'sea' } } },
      AGAIN,
      { toolUse: { toolUseId: 'tooluse_B', name: 'look', input: { at: 'sky' } } },
    ])
  })

  it('the next turn sends it back to another profile of the model', async () => {
    for (const model of [
      'global.anthropic.claude-opus-4-7',
      'arn:aws:bedrock:us-east-1:1:inference-profile/eu.anthropic.claude-opus-4-7',
    ]) {
      const { messages } = await translate({ model, reasoning_effort: 'high', messages: await secondTurn() })
      expect(kinds(messages[1]!.content)[0], model).to.equal('reasoningContent')
    }
  })

  it('another model does not get it', async () => {
    const { messages } = await translate({ model: 'us.anthropic.claude-opus-5', messages: await secondTurn() })
    expect(kinds(messages[1]!.content)).to.deep.equal(['text', 'toolUse', 'toolUse'])
  })

  it('a request without reasoning omits it', async () => {
    const { messages } = await translate({ model: OPUS_4_7, messages: await secondTurn() })
    expect(kinds(messages[1]!.content)).to.deep.equal(['text', 'toolUse', 'toolUse'])
  })

  it('a step that began with reasoning continues with it', async () => {
    const extra_content = { bedrock: { model: US_HAIKU_4_5, reasoning: [SEALED[0]] } }
    const messages = [
      { role: 'user', content: '?' },
      {
        role: 'assistant',
        tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }],
      },
      { role: 'tool', tool_call_id: 'a', content: 'x' },
    ]
    const request = await translate({ model: US_HAIKU_4_5, reasoning_effort: 'low', messages })
    expect(request.additionalModelRequestFields).to.have.nested.property('thinking.type', 'enabled')
    expect(kinds(request.messages[1]!.content)).to.deep.equal(['reasoningContent', 'toolUse'])
  })

  it('unsigned reasoning is omitted', async () => {
    const frames = fixture('reasoning-before-tools').filter((frame) => !/signature|redacted/.test(frame.toString()))
    expect((await hear(frames)).tools.map(({ extra_content }) => extra_content)).to.deep.equal([undefined, undefined])
  })

  it('invalid state of a client is omitted', async () => {
    const junk = [null, 'x', { text: 'x' }, { reasoningContent: null }, { reasoningContent: { reasoningText: { text: 'x' } } }]
    for (const extra_content of [{ bedrock: { model: OPUS_4_7, reasoning: junk } }, { bedrock: 'x' }, 'x', null, []]) {
      const messages = [
        { role: 'user', content: '?' },
        {
          role: 'assistant',
          tool_calls: [{ id: 'a', type: 'function', function: { name: 'look', arguments: '{}' }, extra_content }],
        },
        { role: 'tool', tool_call_id: 'a', content: 'x' },
      ]
      const request = await translate({ model: OPUS_4_7, reasoning_effort: 'low', messages })
      expect(kinds(request.messages[1]!.content)).to.deep.equal(['toolUse'])
    }
  })
})
