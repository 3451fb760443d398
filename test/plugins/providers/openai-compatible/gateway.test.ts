// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml

import { expect } from 'chai'
import type { Usage } from 'unified-model-gateway/plugin'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from 'unified-model-gateway/plugin/testing'
import { PRESETS } from '../../../../plugins/providers/openai-compatible/presets.ts'
import { chunkOf, openai, USAGE_EVENT } from '../../../e2e/sdk/openai-dialect.ts'
import { startTestGateway, type TestGateway } from '../../../support/gateway.ts'

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

/** The parts of the same calls in a stream. */
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

describe('a custom tool call reaches the client as the upstream wrote it', () => {
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
      // All others get a function: test/e2e/tool-loops/tool-forms.test.ts.
      if (namespace === 'openai' || namespace === 'azure') expect((await asked).json()).to.deep.include({ tools: [TOOL] })
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

const usageOf = (completion_tokens: number, total_tokens: number, reasoning_tokens?: unknown) => ({
  prompt_tokens: 12,
  completion_tokens,
  total_tokens,
  prompt_tokens_details: { cached_tokens: 11 },
  ...(reasoning_tokens !== undefined && { completion_tokens_details: { reasoning_tokens } }),
})

describe('a reply of xAI, which counts reasoning beside completion_tokens', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const config = { preset: 'xai', baseUrl: `${upstream.origin}/v1` }
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { xai: { provider: 'openai-compatible', config } } },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  /** The usage that the client reads, and the logged one. */
  async function toldAndLogged(usage: object, stream: boolean) {
    const said = { text: ['Hello'] }
    const events = openai.events(said).map((one) => (one === USAGE_EVENT ? { choices: [], usage } : one))
    upstream.reply(stream ? sse(events) : json({ ...openai.whole(said), usage }))
    const request = { model: 'xai/grok-3-mini', messages: MESSAGES }
    const client = gateway.openai().chat.completions
    let told: unknown
    let id: string | null
    if (stream) {
      const reply = await client.create({ ...request, stream, stream_options: { include_usage: true } }).withResponse()
      for await (const chunk of reply.data) told = chunk.usage ?? told
      id = reply.request_id
    } else {
      const reply = await client.create(request).withResponse()
      told = reply.data.usage
      id = reply.request_id
    }
    const { tokens } = await gateway.logged((line) => line.id === id && 'tokens' in line)
    return { told: told as Usage, tokens }
  }

  for (const stream of [false, true]) {
    const how = stream ? 'streamed' : 'whole'

    it(`is counted in completion_tokens for the client and in the log: ${how}`, async () => {
      const usage = usageOf(1, 303, 290)
      const { told, tokens } = await toldAndLogged(usage, stream)
      expect(told).to.deep.equal({ ...usage, completion_tokens: 291 })
      expect(tokens).to.include({ input: 12, output: 291 })
    })

    for (const [name, usage] of Object.entries({
      'with no reasoning tokens': usageOf(7, 19, 0),
      'without reasoning': usageOf(7, 19),
      'that includes it': usageOf(291, 303, 290),
      'with another total': usageOf(1, 999, 290),
      'with invalid reasoning': usageOf(1, 303, '290'),
    })) {
      it(`keeps a usage ${name} unchanged, and charges its total: ${how}`, async () => {
        const { told, tokens } = await toldAndLogged(usage, stream)
        expect(told).to.deep.equal(usage)
        expect(tokens).to.include({ output: usage.total_tokens - usage.prompt_tokens })
      })
    }
  }
})
