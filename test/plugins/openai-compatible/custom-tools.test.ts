// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from 'unified-model-gateway/plugin/testing'
import { PRESETS } from '../../../plugins/providers/openai-compatible/presets.ts'
import { chunkOf, openai } from '../../e2e/sdk/openai-dialect.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const TOOL = { type: 'custom', custom: { name: 'run_sql' } } as const
const MESSAGES = [{ role: 'user' as const, content: 'How many?' }]

const CALLS = [
  { id: 'call_1', type: 'custom', custom: { name: 'run_sql', input: 'select 1' } },
  { id: 'call_2', type: 'custom', custom: { name: 'run_sql', input: '' } },
]

const COMPLETION = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1_700_000_000,
  model: 'gpt-5',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: null, refusal: null, tool_calls: CALLS },
      logprobs: null,
      finish_reason: 'tool_calls',
    },
  ],
}

/** The parts in which a stream brings the same calls. */
const PARTS = [
  { index: 0, id: 'call_1', type: 'custom', custom: { name: 'run_sql', input: '' } },
  { index: 0, custom: { input: 'select ' } },
  { index: 0, custom: { input: '1' } },
  { index: 1, id: 'call_2', type: 'custom', custom: { name: 'run_sql', input: '' } },
]

const STREAM = [
  ...openai.events({}).slice(0, 1),
  ...PARTS.map((part) => chunkOf({ tool_calls: [part] })),
  chunkOf({}, 'tool_calls'),
  ...openai.events({}).slice(-2),
]

describe('the call of a custom tool reaches the client as the upstream wrote it', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const apiKey = '${env:KEY}'
    const presets = Object.keys(PRESETS).map((preset) => {
      return [preset, { provider: 'openai-compatible', config: { preset, baseUrl: `${upstream.origin}/v1`, apiKey } }] as const
    })
    const azure = { provider: 'azure-openai', config: { baseUrl: upstream.origin, apiKey } }
    gateway = await startTestGateway({
      env: { KEY: 'up' },
      routes: { chain: [{ plugin: 'auth' }], namespaces: { ...Object.fromEntries(presets), azure } },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const namespace of [...Object.keys(PRESETS), 'azure']) {
    it(`${namespace}, whole`, async () => {
      const asked = upstream.reply(json(COMPLETION))
      const completion = await gateway.openai().chat.completions.create({
        model: `${namespace}/gpt-5`,
        messages: MESSAGES,
        tools: [TOOL],
      })
      expect(completion.choices).to.deep.equal(COMPLETION.choices)
      expect((await asked).json()).to.deep.include({ tools: [TOOL] })
    })

    it(`${namespace}, streamed`, async () => {
      upstream.reply(sse(STREAM))
      const reply = await gateway.fetch('/v1/chat/completions', {
        json: { model: `${namespace}/gpt-5`, messages: MESSAGES, tools: [TOOL], stream: true },
      })
      const events = (await reply.text()).split('\n\n').filter((text) => text.startsWith('data: {'))
      const choices = events.flatMap((text) => JSON.parse(text.slice('data: '.length)).choices)
      expect(choices.flatMap(({ delta }) => delta.tool_calls ?? [])).to.deep.equal(PARTS)
      expect(choices.at(-1).finish_reason).to.equal('tool_calls')
    })
  }
})
