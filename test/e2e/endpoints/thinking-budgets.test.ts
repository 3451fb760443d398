// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { MESSAGE } from '../messages/fixture.ts'

const BUDGET = 3000

/** A call with the budget by each protocol, and what it calls the number. */
const CLIENTS = [
  {
    name: 'chat completions, by thinking',
    path: 'chat/completions',
    body: {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 64_000,
      thinking: { type: 'enabled', budget_tokens: BUDGET },
    },
    param: 'thinking',
  },
  {
    name: 'chat completions, by reasoning',
    path: 'chat/completions',
    body: { messages: [{ role: 'user', content: 'Hi' }], max_tokens: 64_000, reasoning: { max_tokens: BUDGET } },
    param: 'reasoning',
  },
  {
    name: 'Messages',
    path: 'messages',
    body: {
      messages: [{ role: 'user', content: 'Hi' }],
      max_tokens: 64_000,
      thinking: { type: 'enabled', budget_tokens: BUDGET },
    },
    param: 'thinking.budget_tokens',
  },
  {
    name: 'Responses',
    path: 'responses',
    body: { input: 'Hi', max_output_tokens: 64_000, reasoning: { max_tokens: BUDGET } },
    param: 'reasoning.max_tokens',
  },
]

const CLAUDE = { thinking: { type: 'enabled', budget_tokens: BUDGET } }
const CONVERSED = {
  output: { message: { role: 'assistant', content: [{ text: 'Hi' }] } },
  stopReason: 'end_turn',
  usage: { inputTokens: 1, outputTokens: 1, totalTokens: 2 },
}
const COHERE = {
  id: '1',
  finish_reason: 'COMPLETE',
  message: { role: 'assistant', content: [{ type: 'text', text: 'Hi' }] },
  usage: { tokens: { input_tokens: 1, output_tokens: 1 } },
}
const GENERATED = {
  candidates: [{ content: { role: 'model', parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
  usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
}
const COMPLETION = openaiReply({ text: 'Hi' }).whole

/** What each model gets. Those of `byEffort` take no number, so that the client is told its name. */
const UPSTREAMS = [
  { model: 'anthropic/claude-haiku-4-5', reply: MESSAGE, gets: CLAUDE },
  { model: 'anthropic/claude-opus-4-6', reply: MESSAGE, gets: CLAUDE },
  {
    model: 'anthropic/claude-opus-5',
    reply: MESSAGE,
    gets: { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    byEffort: true,
    own: 'messages',
  },
  {
    model: 'bedrock/anthropic.claude-haiku-4-5-20251001-v1:0',
    reply: CONVERSED,
    gets: { additionalModelRequestFields: CLAUDE },
    own: 'messages',
  },
  {
    model: 'bedrock/anthropic.claude-opus-4-6-v1',
    reply: CONVERSED,
    gets: { additionalModelRequestFields: CLAUDE },
    own: 'messages',
  },
  {
    model: 'gemini/gemini-2.5-flash',
    reply: GENERATED,
    gets: { generationConfig: { maxOutputTokens: 64_000, thinkingConfig: { thinkingBudget: BUDGET, includeThoughts: true } } },
  },
  {
    model: 'gemini/gemini-3-flash',
    reply: GENERATED,
    gets: { generationConfig: { maxOutputTokens: 64_000, thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } } },
    byEffort: true,
  },
  {
    model: 'cohere/command-a-reasoning-08-2025',
    reply: COHERE,
    gets: { thinking: { type: 'enabled', token_budget: BUDGET } },
  },
  { model: 'openrouter/some-model', reply: COMPLETION, gets: { reasoning: { max_tokens: BUDGET } }, verbatim: true },
  { model: 'alibaba/qwen-plus', reply: COMPLETION, gets: { enable_thinking: true, thinking_budget: BUDGET }, verbatim: true },
  { model: 'siliconflow/Qwen/Qwen3-8B', reply: COMPLETION, gets: { thinking_budget: BUDGET }, verbatim: true },
  {
    model: 'fireworks/accounts/fireworks/models/qwen3p7-plus',
    reply: COMPLETION,
    gets: CLAUDE,
    verbatim: true,
    own: 'responses',
  },
  {
    model: 'nvidia/nvidia/nemotron-3-ultra-550b-a55b',
    reply: COMPLETION,
    gets: { reasoning_budget: BUDGET },
    verbatim: true,
    own: 'reasoning',
  },
  { model: 'vllm/qwen3', reply: COMPLETION, gets: { thinking_token_budget: BUDGET }, verbatim: true, own: 'responses' },
  {
    model: 'google/gemini-2.5-flash',
    reply: COMPLETION,
    gets: { extra_body: { google: { thinking_config: { thinking_budget: BUDGET, include_thoughts: true } } } },
    // Google refuses a member that it does not know: here `thinking` is translated too.
    own: 'reasoning',
  },
  { model: 'effort/gpt', reply: COMPLETION, gets: { reasoning_effort: 'low' }, byEffort: true, verbatim: true },
]

describe('a number of tokens to think with', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    const to = (provider: string, config: object) => ({ provider, breaker: false, config: { apiKey: '${env:KEY}', ...config } })
    const compatible = (config: object) => to('openai-compatible', { baseUrl: `${upstream.origin}/v1`, ...config })
    gateway = await startTestGateway({
      env: { KEY: 'up' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          anthropic: to('anthropic', { baseUrl: upstream.origin }),
          bedrock: to('bedrock', { baseUrl: upstream.origin, region: 'us-east-1' }),
          gemini: to('gemini', { baseUrl: upstream.origin }),
          cohere: to('cohere', { baseUrl: upstream.origin }),
          openrouter: compatible({ preset: 'openrouter' }),
          alibaba: compatible({ preset: 'alibaba' }),
          siliconflow: compatible({ preset: 'siliconflow' }),
          fireworks: compatible({ preset: 'fireworks' }),
          nvidia: compatible({ preset: 'nvidia' }),
          vllm: compatible({ preset: 'vllm', facts: { '*': { budget: { by: 'thinking_token_budget' } } } }),
          google: compatible({ preset: 'gemini' }),
          effort: compatible({ facts: { gpt: { efforts: ['low', 'medium', 'high'] } } }),
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  for (const { model, reply, gets, byEffort, verbatim, own } of UPSTREAMS)
    for (const { name, path, body, param } of CLIENTS) {
      // A body that an upstream reads itself goes to it as it is.
      if (path === own || param === own || (verbatim && path === 'chat/completions')) continue
      it(`of ${name}: ${model} gets ${byEffort ? 'the nearest effort, and the client is told' : 'it as it is'}`, async () => {
        const asked = upstream.reply(json(reply))
        const answer = await gateway.fetch(`/v1/${path}`, { json: { model, ...body } })
        expect(answer.status, await answer.text()).to.equal(200)
        expect((await asked).json()).to.deep.include(gets)
        const dropped = answer.headers.get('x-umg-params-dropped')?.split(', ') ?? []
        expect(dropped.filter((one) => /thinking|reasoning/.test(one))).to.deep.equal(byEffort ? [param] : [])
      })
    }

  it('replaces an effort, where an upstream refuses both', async () => {
    const asked = upstream.reply(json(COMPLETION))
    const { body } = CLIENTS.find(({ path }) => path === 'messages')!
    const model = 'fireworks/accounts/fireworks/models/qwen3p7-plus'
    const answer = await gateway.fetch('/v1/messages', { json: { model, ...body, output_config: { effort: 'high' } } })
    expect(answer.status, await answer.text()).to.equal(200)
    expect((await asked).json())
      .to.deep.include(CLAUDE)
      .and.not.have.property('reasoning_effort')
  })
})
