import { expect } from 'chai'
import {
  hold,
  json,
  openaiReply,
  type ReceivedRequest,
  type ScriptedUpstream,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import { responsesReply } from '../../../core/testing/upstream/responses-reply.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { CHAT, hear, MESSAGES, RESPONSES } from '../upstream-faults/heard-reply.ts'

type Body = Readonly<Record<string, unknown>>

/** Members of `ResponseCreateParams` (openai-node 7.57) that a chat completion may lead to. */
const MEMBERS = new Set(
  `model input store include stream temperature top_p parallel_tool_calls metadata user service_tier safety_identifier moderation prompt_cache_key
  prompt_cache_retention prompt_cache_options max_output_tokens tools tool_choice reasoning text top_logprobs instructions`.split(
    /\s+/,
  ),
)

const refusal = (status: number, message: string, param: string | null, code: string | null = null) =>
  json({ error: { message, type: 'invalid_request_error', param, code } }, { status })

/** What OpenAI's models answer at the endpoint of chat completions, by reports of 2026. */
function refusalOfChat(body: Body): ReturnType<typeof json> | undefined {
  const { model, reasoning_effort: effort, tools } = body
  const advice = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions.`
  if (model === 'gpt-5.5-pro' || model === 'new-pro')
    return refusal(404, 'This model is only supported in v1/responses and not in v1/chat/completions.', 'model')
  const { temperature = 1, top_p: topP = 1 } = body
  if (String(model).startsWith('gpt-6')) {
    const unsupported = ['max_tokens', 'stop'].find((name) => name in body)
    if (unsupported !== undefined)
      return refusal(
        400,
        `Unsupported parameter: '${unsupported}' is not supported with this model.`,
        unsupported,
        'unsupported_parameter',
      )
    if (effort !== 'none' && (temperature !== 1 || topP !== 1))
      return refusal(400, 'Only the default (1) value is supported.', 'temperature', 'unsupported_value')
    if (effort === 'max')
      return refusal(400, "'reasoning_effort' does not support 'max' with this model.", 'reasoning_effort', 'unsupported_value')
  }
  if (tools === undefined) return undefined
  if (model === 'gpt-5.4' && effort !== undefined && effort !== 'none')
    return refusal(400, `${advice} Please use /v1/responses instead.`, 'reasoning_effort')
  if ((model === 'gpt-5.6-terra' || model === 'new') && effort !== 'none')
    return refusal(
      400,
      `${advice} To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      'reasoning_effort',
    )
  if (model === 'gpt-6-astra')
    return refusal(
      400,
      `${advice} To use function tools, use /v1/responses or set reasoning_effort to 'none'.`,
      'reasoning_effort',
    )
  return undefined
}

/** OpenAI's own checks of a request of the Responses API. */
function refusalOfResponses(body: Body): ReturnType<typeof json> | undefined {
  const unknown = Object.keys(body).find((name) => !MEMBERS.has(name))
  if (unknown !== undefined) return refusal(400, `Unknown parameter: '${unknown}'.`, unknown, 'unknown_parameter')
  for (const tool of (body.tools ?? []) as Body[])
    if (tool.type === 'function' && !('parameters' in tool && 'strict' in tool))
      return refusal(400, 'Missing required parameter.', 'tools')
  const { effort } = (body.reasoning ?? {}) as { effort?: string }
  if (body.model !== 'gpt-4.1' && effort !== 'none' && ('temperature' in body || 'top_p' in body))
    return refusal(400, "Unsupported parameter: 'temperature' is not supported with this model.", 'temperature')
  if ((body.max_output_tokens as number) < 16) return refusal(400, 'Expected a value >= 16.', 'max_output_tokens')
  return undefined
}

const SAID = { tools: [{ name: 'look', arguments: { a: 1 } }], usage: { prompt_tokens: 1000, completion_tokens: 50 } }

/** OpenAI, which answers each call with a call of the tool `look`, or with `Hi.` if there is no tool. */
function openai(request: ReceivedRequest) {
  const body = request.json() as Body
  const isChat = request.path.endsWith('/chat/completions')
  const refused = isChat ? refusalOfChat(body) : refusalOfResponses(body)
  if (refused !== undefined) return refused
  const says = body.tools === undefined ? { text: 'Hi.' } : SAID
  const { whole, stream } = isChat ? openaiReply(says) : responsesReply(says)
  return body.stream === true ? sse(stream) : json(whole)
}

describe('Chat completions of a model that needs the Responses API', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(openai)
    const config = { baseUrl: `${upstream.origin}/v1`, preset: 'openai' }
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          openai: { provider: 'openai-compatible', config },
          chat: { provider: 'openai-compatible', config: { ...config, api: 'chat' } },
          plain: {
            provider: 'openai-compatible',
            config: { baseUrl: config.baseUrl, api: { 'some-*': 'responses', 'gpt-*': 'chat' } },
          },
          some: { provider: 'openai-compatible', config: { ...config, api: { 'gpt-4*': 'responses', '*': 'chat' } } },
        },
        prices: { models: { 'openai/*': { input: 10, output: 100 } } },
      },
    })
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const paths = () => upstream.requests.map(({ path }) => path.replace('/v1/', ''))

  for (const way of [CHAT, MESSAGES, RESPONSES]) {
    for (const stream of [false, true]) {
      for (const model of ['gpt-5.6-terra', 'gpt-6-astra', 'gpt-5.5-pro']) {
        it(`calls a tool of ${model} by ${way.name}, ${stream ? 'streamed' : 'whole'}`, async () => {
          const heard = await hear(gateway, way, { model: `openai/${model}`, stream })
          expect(heard).to.deep.include({ isComplete: true })
          expect('tools' in heard && heard.tools.map(({ name, input }) => ({ name, input }))).to.deep.equal([
            { name: 'look', input: { a: 1 } },
          ])
          expect(paths()).to.deep.equal(['responses'])
        })
      }
    }
  }

  const tools = [{ type: 'function' as const, function: { name: 'look' } }]
  const messages = [{ role: 'user' as const, content: 'Hi' }]

  it('learns from a refusal, and the client does not notice', async () => {
    const sdk = gateway.openai()
    for (const model of ['openai/new', 'openai/new-pro']) {
      for (let call = 0; call < 2; call++) {
        const reply = await sdk.chat.completions.create({ model, messages, tools })
        expect(reply.choices[0]!.finish_reason).to.equal('tool_calls')
      }
    }
    expect(paths()).to.deep.equal(['chat/completions', 'responses', 'responses', 'chat/completions', 'responses', 'responses'])
  })

  it('go by chat completions if the call needs nothing else', async () => {
    const sdk = gateway.openai()
    const asked = { model: 'openai/gpt-5.6-terra', messages }
    expect((await sdk.chat.completions.create(asked)).choices[0]!.message.content).to.equal('Hi.')
    await sdk.chat.completions.create({ ...asked, tools, reasoning_effort: 'none' })
    await sdk.chat.completions.create({ ...asked, model: 'openai/gpt-5.4', tools })
    expect(paths()).to.deep.equal(['chat/completions', 'chat/completions', 'chat/completions'])
  })

  it('go by the API that the operator names', async () => {
    const sdk = gateway.openai()
    await sdk.chat.completions.create({ model: 'some/gpt-4.1', messages })
    expect(paths()).to.deep.equal(['responses'])
    const refused = sdk.chat.completions.create({ model: 'chat/gpt-6-astra', messages, tools })
    expect(await refused.catch(({ status }) => status)).to.equal(400)
    expect(paths()).to.deep.equal(['responses', 'chat/completions'])
  })

  it('go by the API that the operator names, where the upstream is not known to have it, which keeps no responses for anybody', async () => {
    await gateway.openai().chat.completions.create({ model: 'plain/some-model', messages })
    await gateway.openai().chat.completions.create({ model: 'plain/gpt-4.1', messages })
    const json = { model: 'plain/some-model', input: 'Hi', previous_response_id: 'resp_1' }
    expect((await gateway.fetch('/v1/responses', { json })).status).to.equal(400)
    expect(paths()).to.deep.equal(['responses', 'chat/completions'])
  })

  it('name what the Responses API leaves out, and refuse what it cannot do', async () => {
    const asked = { model: 'openai/gpt-6-astra', messages, tools, seed: 7 }
    const reply = await gateway.fetch('/v1/chat/completions', { json: asked })
    expect([reply.status, reply.headers.get('x-umg-params-dropped')]).to.deep.equal([200, 'seed'])
    const refused = await gateway.fetch('/v1/chat/completions', { json: { ...asked, n: 2 } })
    expect(refused.status).to.equal(400)
    expect(await refused.json()).to.have.nested.property('error.param', 'n')
    expect(paths()).to.deep.equal(['responses'])
  })

  it('have the lowest effort in place of one that the model refuses, and say so', async () => {
    const asked = { messages, tools, reasoning_effort: 'none' }
    const efforts: unknown[] = []
    for (const model of ['gpt-6-astra', 'gpt-5.5-pro']) {
      const reply = await gateway.fetch('/v1/chat/completions', { json: { ...asked, model: `openai/${model}` } })
      const { reasoning } = upstream.requests.at(-1)!.json() as { reasoning: object }
      efforts.push([reasoning, reply.headers.get('x-umg-params-dropped')])
    }
    expect(efforts).to.deep.equal([
      [{ effort: 'low' }, 'reasoning_effort'],
      [{ effort: 'medium' }, 'reasoning_effort'],
    ])
  })

  for (const [model, asked, got] of [
    ['gpt-5.5', 'max', 'xhigh'],
    ['gpt-5-pro', 'low', 'high'],
    ['gpt-5.1-codex', 'none', 'low'],
    ['gpt-5.3-codex', 'max', 'xhigh'],
    ['gpt-5.6-sol', 'max', 'max'],
    ['gpt-5.6-sol', 'minimal', 'low'],
    ['o3-pro', 'xhigh', 'high'],
  ] as const) {
    it(`have the effort ${got} in place of ${asked} at ${model}, by chat completions and by Messages`, async () => {
      const chat = { model: `openai/${model}`, messages, tools, reasoning_effort: asked }
      const reply = await gateway.fetch('/v1/chat/completions', { json: chat })
      const { reasoning } = upstream.requests.at(-1)!.json() as { reasoning: object }
      expect([reply.status, reasoning, reply.headers.get('x-umg-params-dropped')]).to.deep.equal([
        200,
        { effort: got },
        asked === got ? null : 'reasoning_effort',
      ])
      if (asked === 'none' || asked === 'minimal') return
      const own = { max_tokens: 100, tools: [{ name: 'look', input_schema: {} }], output_config: { effort: asked } }
      expect((await gateway.fetch('/v1/messages', { json: { model: chat.model, messages, ...own } })).status).to.equal(200)
      expect(upstream.requests.at(-1)!.json()).to.deep.include({ reasoning: { effort: got } })
    })
  }

  it('serve what GPT-6 refuses at the endpoint of chat completions, without tools too, and say what is left out', async () => {
    const heard: unknown[] = []
    for (const more of [
      { max_tokens: 100 },
      { stop: ['!'] },
      { temperature: 0 },
      { temperature: 1, top_p: 1 },
      { temperature: 0, top_p: 0.5, reasoning_effort: 'none' },
      { reasoning_effort: 'max' },
    ]) {
      const reply = await gateway.fetch('/v1/chat/completions', { json: { model: 'openai/gpt-6-sol', messages, ...more } })
      heard.push([reply.status, paths().at(-1), reply.headers.get('x-umg-params-dropped')])
    }
    expect(heard).to.deep.equal([
      [200, 'responses', null],
      [200, 'responses', null],
      [200, 'responses', 'temperature'],
      [200, 'chat/completions', null],
      [200, 'chat/completions', null],
      [200, 'responses', null],
    ])
  })

  it('have no sampling parameters where a model reasons, and the others have them', async () => {
    const heard: unknown[] = []
    for (const model of ['gpt-5.6-terra', 'gpt-6-sol', 'gpt-5.5-pro', 'new', 'new']) {
      const json = { model: `openai/${model}`, messages, tools, temperature: 0.2, top_p: 1 }
      const reply = await gateway.fetch('/v1/chat/completions', { json })
      heard.push([reply.status, reply.headers.get('x-umg-params-dropped')])
    }
    await gateway.fetch('/v1/chat/completions', { json: { model: 'some/gpt-4.1', messages, temperature: 0.2 } })
    expect(upstream.requests.at(-1)!.json()).to.include({ temperature: 0.2 })
    expect(heard).to.deep.equal(heard.map(() => [200, 'temperature']))
  })

  it('cost what the response has used, and stop at a budget', async () => {
    // A call costs 0.015 USD.
    const key = await gateway.key({ budgets: ['0.06 USD/day'] })
    const asked = { model: 'openai/gpt-6-astra', messages, tools, max_completion_tokens: 100 }
    const statuses: number[] = []
    for (let call = 0; call < 6; call++) statuses.push((await gateway.fetch('/v1/chat/completions', { json: asked, key })).status)
    expect(statuses).to.deep.equal([200, 200, 200, 200, 429, 429])
    const caps = upstream.requests.map((request) => (request.json() as Body).max_output_tokens)
    expect(caps).to.deep.equal([100, 100, 100, 100])
  })

  it('gives the error of a response that failed', async () => {
    const failed = {
      ...responsesReply({ text: '' }).whole,
      status: 'failed',
      output: [],
      error: { code: 'rate_limit_exceeded', message: 'Slow' },
    }
    upstream.on(() => json(failed))
    const reply = await gateway.fetch('/v1/chat/completions', { json: { model: 'openai/gpt-6-astra', messages, tools } })
    expect(reply.status).to.equal(429)
  })

  it('gives the client its own name of a parameter that is refused', async () => {
    upstream.on(() => refusal(400, "Unsupported value: 'max' is not supported.", 'reasoning.effort', 'unsupported_value'))
    const asked = { model: 'openai/gpt-6-astra', messages, tools, reasoning_effort: 'max' }
    const reply = await gateway.fetch('/v1/chat/completions', { json: asked })
    expect(await reply.json()).to.have.nested.property('error.param', 'reasoning_effort')
  })

  describe('with stop sequences', () => {
    const answer = (text: string) => responsesReply({ text, usage: { prompt_tokens: 1000, completion_tokens: 50 } })
    const row = async () => (await gateway.store.db.selectFrom('calls').selectAll().execute()).at(-1)

    it('end a whole answer, which is charged as reported', async () => {
      upstream.on(() => json(answer('One. Two. Three.').whole))
      const asked = { model: 'openai/gpt-6-astra', messages, tools, stop: [' Three', 'Two'] }
      const reply = await gateway.openai().chat.completions.create(asked)
      expect(reply.choices[0]).to.deep.include({ finish_reason: 'stop', stop_reason: 'Two' })
      expect(reply.choices[0]!.message.content).to.equal('One. ')
      expect(reply.usage).to.include({ prompt_tokens: 1000, completion_tokens: 50 })
      expect(upstream.requests.at(-1)!.json()).not.to.have.property('stop')
      const message = { max_tokens: 100, messages, tools: [{ name: 'look', input_schema: {} }], stop_sequences: ['Two'] }
      const spoken = await gateway.fetch('/v1/messages', { json: { model: 'openai/gpt-6-astra', ...message } })
      const said = await spoken.json()
      expect(said).to.deep.include({ stop_reason: 'stop_sequence', stop_sequence: 'Two' })
      expect(said).to.have.nested.property('content[0].text', 'One. ')
    })

    for (const path of ['/v1/chat/completions', '/v1/messages']) {
      it(`end a stream across its pieces and leave the upstream, at ${path}`, async () => {
        const { stream } = answer('One. Two.')
        const at = stream.findIndex((each) => String(each).includes('output_text.delta'))
        const delta = (text: string) => String(stream[at]).replace(/"delta":"[^"]*"/, `"delta":"${text}"`)
        const gate = hold()
        upstream.on(() =>
          sse([...stream.slice(0, at), delta('One. T'), delta('w'), delta('o. Three.'), gate, ...stream.slice(-1)]),
        )
        const isChat = path.endsWith('completions')
        const own = isChat
          ? { tools, stop: 'Two' }
          : { max_tokens: 100, tools: [{ name: 'look', input_schema: {} }], stop_sequences: ['Two'] }
        const asked = { model: 'openai/gpt-6-astra', messages, stream: true, ...own }
        const text = await (await gateway.fetch(path, { json: asked })).text()
        const data = [...text.matchAll(/^data: (\{.*\})$/gm)].map(([, each]) => JSON.parse(each!))
        if (isChat) {
          expect(data.map(({ choices }) => choices[0]?.delta.content ?? '').join('')).to.equal('One. ')
          expect(data.at(-1).choices[0]).to.deep.include({ finish_reason: 'stop', stop_reason: 'Two' })
        } else {
          expect(data.map((each) => each.delta?.text ?? '').join('')).to.equal('One. ')
          const { delta: end } = data.find(({ type }) => type === 'message_delta')
          expect(end).to.include({ stop_reason: 'stop_sequence', stop_sequence: 'Two' })
        }
        // The upstream has not ended its stream: the gateway has left it.
        const over = performance.now()
        await upstream.requests.at(-1)!.closed
        expect(performance.now() - over, 'at once, not a second later').to.be.below(800)
        gate.release()
        await until(async () => (await row()) !== undefined)
        const call = (await row())!
        expect(call).to.include({ outcome: 'ok', estimated: 1, output_tokens: Math.ceil('One. Two. Three.'.length / 4) })
      })
    }
  })
})
