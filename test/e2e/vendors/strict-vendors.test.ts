// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { responsesReply } from '../../../core/testing/upstream/responses-reply.ts'
import { PRESETS, type PresetName } from '../../../plugins/providers/openai-compatible/presets.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { refusedBy, STRICT_VENDORS, WITHOUT_REFUSALS } from '../../support/strict-vendors.ts'

const SCHEMA = { type: 'object', properties: { city: { type: 'string' } }, required: ['city'], additionalProperties: false }
/** Also an answer by the schema. */
const SAID = { text: 'Hello. {"city":"Hello"}' }
const HI = { role: 'user', content: 'Hi.' }
const CHAT_TOOL = { type: 'function', function: { name: 'get_weather', description: 'Weather', parameters: SCHEMA } }

const PICTURE = 'data:image/png;base64,iVBORw0KGgo='

const CALLED = { id: 'call_1', type: 'function', function: { name: 'get_weather', arguments: '{"city":"Oslo"}' } }

/** The calls of usual clients, by what they are. */
const CALLS: readonly { readonly name: string; readonly path: string; readonly body: Readonly<Record<string, unknown>> }[] = [
  {
    name: 'a chat with all usual members',
    path: 'chat/completions',
    body: {
      messages: [{ role: 'developer', content: 'Be brief.' }, HI],
      max_completion_tokens: 100,
      n: 1,
      stop: ['END'],
      stream: true,
      stream_options: { include_usage: true },
      tools: [CHAT_TOOL],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      frequency_penalty: 0.5,
      presence_penalty: 0.5,
      seed: 1,
      store: true,
      metadata: { team: 'blue' },
      user: 'user-1',
      prompt_cache_key: 'key-1',
      service_tier: 'flex',
      logprobs: false,
    },
  },
  {
    name: 'a chat in the middle of a tool loop',
    path: 'chat/completions',
    body: {
      messages: [
        HI,
        { role: 'assistant', content: null, tool_calls: [CALLED] },
        { role: 'tool', tool_call_id: 'call_1', content: 'Rain' },
      ],
      tools: [CHAT_TOOL],
    },
  },
  {
    name: 'a chat that asks for log probabilities',
    path: 'chat/completions',
    body: { messages: [HI], logprobs: true, top_logprobs: 2 },
  },
  {
    name: 'a chat with names and with state of other vendors',
    path: 'chat/completions',
    body: {
      messages: [
        { role: 'user', name: 'Ann', content: 'Hi.' },
        {
          role: 'assistant',
          content: '',
          tool_calls: [CALLED],
          reasoning: 'Hm.',
          reasoning_content: 'Hm.',
          reasoning_details: [{ type: 'reasoning.text', text: 'Hm.', format: 'unknown' }],
        },
        { role: 'tool', tool_call_id: 'call_1', name: 'get_weather', content: [{ type: 'text', text: 'Rain' }] },
      ],
      tools: [CHAT_TOOL],
    },
  },
  {
    name: 'a chat with instructions at several places',
    path: 'chat/completions',
    body: {
      messages: [
        { role: 'system', content: 'Be brief.' },
        { role: 'developer', content: [{ type: 'text', text: 'Be kind.' }] },
        HI,
        { role: 'user', content: [{ type: 'text', text: 'How are you?' }] },
        { role: 'assistant', content: 'Well.' },
        { role: 'system', content: 'Be quick.' },
        HI,
      ],
    },
  },
  {
    name: 'a chat that forces one of several tools',
    path: 'chat/completions',
    body: {
      messages: [HI],
      tools: [{ type: 'function', function: { name: 'now' } }, CHAT_TOOL],
      tool_choice: { type: 'function', function: { name: 'now' } },
    },
  },
  {
    name: 'a chat with an empty list of tools, and a JSON object',
    path: 'chat/completions',
    body: { messages: [HI], tools: [], tool_choice: 'auto', response_format: { type: 'json_object' } },
  },
  {
    name: 'a chat with members of other vendors',
    path: 'chat/completions',
    body: { messages: [HI], reasoning: { effort: 'low' }, top_k: 5, safety_identifier: 'x', verbosity: 'low' },
  },
  {
    name: 'a chat with all that clients add out of habit',
    path: 'chat/completions',
    body: {
      messages: [HI],
      frequency_penalty: 0,
      logit_bias: {},
      metadata: { team: 'blue' },
      min_p: 0.1,
      parallel_tool_calls: true,
      prediction: null,
      presence_penalty: 0,
      prompt_cache_key: 'key-1',
      prompt_cache_options: { mode: 'implicit' },
      prompt_cache_retention: '24h',
      reasoning: { effort: 'low' },
      repetition_penalty: 1,
      safety_identifier: 'x',
      seed: 1,
      service_tier: 'auto',
      store: false,
      thinking: { type: 'disabled' },
      top_k: 5,
      user: 'user-1',
      verbosity: 'low',
    },
  },
  {
    name: 'a chat with a picture that a model has made',
    path: 'chat/completions',
    body: {
      messages: [HI, { role: 'assistant', content: 'A cat:', images: [{ type: 'image_url', image_url: { url: PICTURE } }] }, HI],
    },
  },
  {
    name: 'a response with a picture that a model has made',
    path: 'responses',
    body: {
      input: [
        { type: 'message', role: 'user', content: 'Draw.' },
        { type: 'image_generation_call', id: 'ig_1', status: 'completed', output_format: 'png', result: 'iVBORw0KGgo=' },
        { type: 'message', role: 'user', content: 'Make it blue.' },
      ],
    },
  },
  {
    name: "Claude Code's messages with an effort and a number of tokens to think with",
    path: 'messages?beta=true',
    body: {
      max_tokens: 32_000,
      messages: [HI],
      thinking: { type: 'enabled', budget_tokens: 4000 },
      output_config: { effort: 'high' },
    },
  },
  {
    name: "Claude Code's messages with reminders after the result of a tool",
    path: 'messages?beta=true',
    body: {
      max_tokens: 32_000,
      messages: [
        HI,
        { role: 'assistant', content: [{ type: 'tool_use', id: 'toolu_1', name: 'get_weather', input: { city: 'Oslo' } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 'toolu_1', content: 'Rain' },
            { type: 'text', text: '<system-reminder>Be brief.</system-reminder>' },
          ],
        },
        { role: 'assistant', content: 'It rains.' },
        { role: 'system', content: 'Be quick.' },
        HI,
      ],
      tools: [{ name: 'get_weather', description: 'Weather', input_schema: SCHEMA }],
    },
  },
  {
    name: "a chat with answers as OpenAI's SDKs keep them",
    path: 'chat/completions',
    body: {
      messages: [
        HI,
        { role: 'assistant', content: 'Hi.', refusal: null, annotations: [], audio: null, function_call: null },
        HI,
        { role: 'assistant', content: null, refusal: 'I do not say that.' },
        HI,
      ],
    },
  },
  {
    name: 'a chat with an empty answer, and one to go on with',
    path: 'chat/completions',
    body: { messages: [HI, { role: 'assistant', content: '' }, HI, { role: 'assistant', content: 'Hel' }] },
  },
  { name: 'a chat that asks for several choices', path: 'chat/completions', body: { messages: [HI], n: 2 } },
  {
    name: 'a chat that asks for a schema',
    path: 'chat/completions',
    body: { messages: [HI], response_format: { type: 'json_schema', json_schema: { name: 'city', schema: SCHEMA } } },
  },
  { name: 'a chat with biases', path: 'chat/completions', body: { messages: [HI], logit_bias: { 50256: -100 } } },
  {
    name: "Claude Code's messages",
    path: 'messages?beta=true',
    body: {
      max_tokens: 32_000,
      system: [{ type: 'text', text: 'You are Claude Code.', cache_control: { type: 'ephemeral' } }],
      messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi.', cache_control: { type: 'ephemeral' } }] }],
      tools: [{ name: 'get_weather', description: 'Weather', input_schema: SCHEMA }],
      metadata: { user_id: 'user_1' },
      stream: true,
    },
  },
  {
    name: "Codex' response",
    path: 'responses',
    body: {
      instructions: 'You are Codex.',
      input: [
        { type: 'message', role: 'developer', content: [{ type: 'input_text', text: 'Be brief.' }] },
        { type: 'message', role: 'user', content: [{ type: 'input_text', text: 'Hi.' }] },
      ],
      tools: [{ type: 'function', name: 'get_weather', description: 'Weather', strict: false, parameters: SCHEMA }],
      tool_choice: 'auto',
      parallel_tool_calls: false,
      store: false,
      stream: true,
      include: ['reasoning.encrypted_content'],
      prompt_cache_key: 'key-1',
    },
  },
]

describe('before a vendor that refuses what its documents say', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on((request) => {
      const preset = request.path.split('/')[1] as PresetName
      const vendor = STRICT_VENDORS[preset]
      const rule = vendor && refusedBy(vendor, request)
      if (rule !== undefined) return vendor!.refusal(rule.what)
      const { stream } = request.json() as { stream?: boolean }
      const reply = request.path.endsWith('/responses') ? responsesReply(SAID) : openaiReply(SAID)
      return stream ? sse(reply.stream) : json(reply.whole)
    })
    gateway = await startTestGateway({
      env: { KEY: 'up' },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: Object.fromEntries(
          Object.keys(PRESETS).map((preset) => [
            preset,
            {
              provider: 'openai-compatible',
              breaker: false,
              config: { preset, baseUrl: `${upstream.origin}/${preset}/v1`, apiKey: '${env:KEY}' },
            },
          ]),
        ),
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const send = (preset: string, path: string, body: object): Promise<Response> =>
    gateway.fetch(`/v1/${path}`, { json: { model: `${preset}/some-model`, ...body } })

  for (const preset of Object.keys(PRESETS))
    for (const { name, path, body } of CALLS)
      it(`${preset}: ${name} is served, or refused before it is sent`, async () => {
        const before = upstream.requests.length
        const reply = await send(preset, path, body)
        const text = await reply.text()
        if (reply.status === 200) return expect(text).to.include('Hel')
        expect(reply.status, text).to.equal(400)
        expect(text).to.include("'")
        return expect(upstream.requests.length, text).to.equal(before)
      })

  for (const model of ['moonshot/kimi-k2.6', 'moonshot/kimi-k3', 'alibaba/qwen3.6-plus'])
    it(`a chat that forces a tool is served by ${model}, which cannot think before one`, async () => {
      const preset = model.split('/')[0] as PresetName
      const named = { type: 'function', function: { name: 'get_weather' } }
      for (const choice of ['required', named]) {
        const reply = await send(preset, 'chat/completions', {
          model,
          messages: [HI],
          tools: [CHAT_TOOL],
          tool_choice: choice,
          reasoning_effort: 'high',
        })
        expect(reply.status, await reply.text()).to.equal(200)
        const dropped = model === 'moonshot/kimi-k3' ? null : 'reasoning_effort'
        expect(reply.headers.get('x-umg-params-dropped')).to.equal(dropped)
      }
    })

  for (const model of ['google/gemini-3.7-flash', 'minimax/minimax-m2.5'])
    it(`Claude Code's messages without thinking are served by ${model} at OpenRouter, which always reasons`, async () => {
      const asked = { model: `openrouter/${model}`, max_tokens: 100, messages: [HI], thinking: { type: 'disabled' } }
      const reply = await send('openrouter', 'messages', asked)
      expect(reply.status, await reply.text()).to.equal(200)
      expect(reply.headers.get('x-umg-params-dropped')).to.equal('thinking')
    })

  const CUSTOM = { name: 'patch', description: 'Changes files.', format: { type: 'text' } }
  const FORMS = {
    'a custom tool, and its call': {
      messages: [
        HI,
        {
          role: 'assistant',
          content: null,
          tool_calls: [{ id: 'call_1', type: 'custom', custom: { name: 'patch', input: 'x' } }],
        },
        { role: 'tool', tool_call_id: 'call_1', content: 'Done.' },
      ],
      tools: [{ type: 'custom', custom: CUSTOM }],
    },
    'functions in the way before tools, and a call of them': {
      messages: [
        HI,
        { role: 'assistant', content: null, function_call: { name: 'get_weather', arguments: '{"city":"Oslo"}' } },
        { role: 'function', name: 'get_weather', content: 'Rain' },
      ],
      functions: [CHAT_TOOL.function],
      function_call: 'auto',
    },
  }

  for (const preset of Object.keys(PRESETS))
    for (const [name, body] of Object.entries(FORMS))
      it(`${preset}: ${name} are served, as function tools where the vendor has no others`, async () => {
        const reply = await send(preset, 'chat/completions', body)
        expect(reply.status, await reply.text()).to.equal(200)
        const sent = JSON.stringify(upstream.requests.at(-1)!.json())
        if (preset === 'openai') return expect(sent).to.match(/"custom"|"functions"/)
        expect(sent).to.contain('"tools":[{"type":"function"').and.to.contain('"role":"tool"')
        return expect(sent).to.not.match(/"custom"|"functions"|"function_call"|"role":"function"/)
      })

  it('each preset is strict, or a source says that its vendor refuses nothing', () => {
    expect([...Object.keys(STRICT_VENDORS), ...Object.keys(WITHOUT_REFUSALS)]).to.have.members(Object.keys(PRESETS))
    for (const { rules } of Object.values(STRICT_VENDORS)) expect(rules).to.be.not.empty
    for (const { reason, source } of Object.values(WITHOUT_REFUSALS))
      expect([reason, source].join(' ')).to.match(/^.{15,} https:\/\/\S+$/)
  })

  it('what changes nothing is left out, and named to the client; what asks for nothing is left out without a word', async () => {
    const reply = await send('groq', 'chat/completions', { messages: [HI], store: true, metadata: { a: 'b' }, logprobs: false })
    expect([reply.status, reply.headers.get('x-umg-params-dropped')]).to.deep.equal([200, 'store, metadata'])
    await reply.text()
    expect(upstream.requests.at(-1)!.json()).to.deep.equal({ messages: [HI], model: 'some-model' })
  })

  it('what cannot be left out is refused with the member, and what to do', async () => {
    const reply = await send('groq', 'chat/completions', { messages: [HI], n: 2 })
    const { error } = (await reply.json()) as { error: { code: string; param: string; message: string } }
    expect([reply.status, error.code, error.param]).to.deep.equal([400, 'unsupported_parameter', 'n'])
    expect(error.message).to.include('call it several times')
  })
})
