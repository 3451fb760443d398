import { expect } from 'chai'
import { translate, upstream } from './support.ts'

const HAIKU_4_5 = 'global.anthropic.claude-haiku-4-5-20251001-v1:0'
const OPUS_4_7 = 'us.anthropic.claude-opus-4-7'
const OPUS_5 = 'us.anthropic.claude-opus-5'
const FABLE_5 = 'us.anthropic.claude-fable-5'
const NOVA_2 = 'us.amazon.nova-2-lite-v1:0'
const GPT_OSS = 'openai.gpt-oss-120b-1:0'
const DEEPSEEK = 'deepseek.v3-v1:0'

/** Per model and effort: what goes into `additionalModelRequestFields`. */
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

describe('bedrock: how much a model reasons', () => {
  for (const [model, effort, fields] of TOLD) {
    it(`${effort} for ${model}`, async () => {
      const request = await translate({ model, reasoning_effort: effort, max_tokens: 10_000 })
      expect(request.additionalModelRequestFields).to.deep.equal(fields)
    })
  }

  it('nobody asks: nothing is said', async () => {
    for (const model of [OPUS_4_7, FABLE_5, HAIKU_4_5, NOVA_2, GPT_OSS]) {
      expect(await translate({ model })).not.to.have.property('additionalModelRequestFields')
    }
  })

  it('a model that does not reason: the reply says that the effort was dropped', async () => {
    expect((await upstream({ model: 'amazon.nova-pro-v1:0', reasoning_effort: 'high' })).dropped).to.deep.equal([
      'reasoning_effort',
    ])
    expect((await upstream({ model: 'amazon.nova-pro-v1:0', reasoning_effort: 'none' })).dropped).to.deep.equal([])
  })

  it('an effort nobody knows is refused', async () => {
    const failure: unknown = await translate({ reasoning_effort: 'heroic' }).catch((error: unknown) => error)
    expect(String(failure)).to.contain('expected one of none, minimal')
  })

  it('a budget is a share of the tokens, which then have to be said', async () => {
    const { inferenceConfig, additionalModelRequestFields } = await translate({ model: HAIKU_4_5, reasoning_effort: 'low' })
    expect(inferenceConfig).to.deep.equal({ maxTokens: 64_000 })
    expect(additionalModelRequestFields).to.deep.equal({ thinking: { type: 'enabled', budget_tokens: 12_800 } })
  })

  it('there is none where there is no room, where a tool is forced, or in a step that began without', async () => {
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

  it('Nova takes no limit at high effort: the client’s limit has the last word', async () => {
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

  it('temperature ends at 1', async () => {
    expect(await sampled('amazon.nova-pro-v1:0', { temperature: 1.7, top_p: 0.5 })).to.deep.equal({
      temperature: 1,
      topP: 0.5,
      dropped: [],
    })
    expect(await sampled('amazon.nova-pro-v1:0', { temperature: 0 })).to.deep.equal({ temperature: 0, dropped: [] })
  })

  it('a model that takes one of both gets the temperature; 1 is as good as nothing said', async () => {
    expect(await sampled(HAIKU_4_5, { temperature: 0.3, top_p: 0.5 })).to.deep.equal({ temperature: 0.3, dropped: ['top_p'] })
    expect(await sampled(HAIKU_4_5, { temperature: 1, top_p: 0.5 })).to.deep.equal({ topP: 0.5, dropped: [] })
    expect(await sampled(HAIKU_4_5, { temperature: 0.3, top_p: 1 })).to.deep.equal({ temperature: 0.3, dropped: [] })
  })

  it('a model that takes neither, or that reasons, gets none', async () => {
    expect(await sampled(OPUS_4_7, { temperature: 0.3, top_p: 0.5 })).to.deep.equal({ dropped: ['temperature', 'top_p'] })
    expect(await sampled(OPUS_4_7, { temperature: 1, top_p: 1 })).to.deep.equal({ dropped: [] })
    expect(await sampled(HAIKU_4_5, { temperature: 0.3, reasoning_effort: 'low', max_tokens: 9000 })).to.deep.equal({
      maxTokens: 9000,
      dropped: ['temperature'],
    })
  })

  it('blank stop sequences are left out, and said to be', async () => {
    expect(await sampled(OPUS_4_7, { stop: ['\n', 'END'] })).to.deep.equal({ stopSequences: ['END'], dropped: ['stop'] })
    expect(await sampled(OPUS_4_7, { stop: 'END' })).to.deep.equal({ stopSequences: ['END'], dropped: [] })
    expect(await sampled(OPUS_4_7, { stop: null })).to.deep.equal({ dropped: [] })
  })
})
