import { expect } from 'chai'
import type { TObject } from 'typebox'
import type { ParameterSupport } from 'unified-model-gateway/plugin'
import plugin from '../../../../plugins/providers/gemini/index.ts'
import { Facts } from '../../../../plugins/providers/gemini/models.ts'
import { parameters } from '../../../../plugins/providers/gemini/request.ts'
import type { GenerateRequest } from '../../../../plugins/providers/gemini/wire.ts'
import { expectParametersOn, namesIn, providerPage } from '../../../support/provider-page.ts'
import { configOf, refusalOf, translate, upstream } from './gemini.ts'
import { ABLE } from './scenarios.ts'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object' } } }
const DECLARED = [{ functionDeclarations: [{ name: 'look', parametersJsonSchema: { type: 'object' } }] }]
const SCHEMA = { type: 'object', properties: {} }
const generation = (generationConfig: object) => ({ generationConfig })

/** Per mapped parameter: a request that uses it, and the expected members. */
const ARRIVES: Readonly<Record<string, readonly [body: object, expected: object]>> = {
  messages: [{ messages: [{ role: 'user', content: 'Hi' }] }, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  max_tokens: [{ max_tokens: 9 }, generation({ maxOutputTokens: 9 })],
  max_completion_tokens: [{ max_tokens: 7, max_completion_tokens: 9 }, generation({ maxOutputTokens: 9 })],
  temperature: [{ temperature: 1.5 }, generation({ temperature: 1.5 })],
  top_p: [{ top_p: 0.5 }, generation({ topP: 0.5 })],
  top_k: [{ top_k: 40 }, generation({ topK: 40 })],
  frequency_penalty: [{ frequency_penalty: 0.5 }, generation({ frequencyPenalty: 0.5 })],
  presence_penalty: [{ presence_penalty: -0.5 }, generation({ presencePenalty: -0.5 })],
  seed: [{ seed: 7 }, generation({ seed: 7 })],
  stop: [{ stop: 'END' }, generation({ stopSequences: ['END'] })],
  n: [{ n: 2 }, generation({ candidateCount: 2 })],
  logprobs: [{ logprobs: true }, generation({ responseLogprobs: true })],
  top_logprobs: [{ logprobs: true, top_logprobs: 3 }, generation({ responseLogprobs: true, logprobs: 3 })],
  tools: [{ tools: [TOOL] }, { tools: DECLARED }],
  tool_choice: [
    { tools: [TOOL], tool_choice: 'required' },
    { tools: DECLARED, toolConfig: { functionCallingConfig: { mode: 'ANY' } } },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    generation({ responseMimeType: 'application/json', responseJsonSchema: SCHEMA }),
  ],
  'tools.strict': [
    { tools: [{ ...TOOL, function: { ...TOOL.function, strict: true } }] },
    { tools: DECLARED, toolConfig: { functionCallingConfig: { mode: 'VALIDATED' } } },
  ],
  web_search_options: [{ web_search_options: {} }, { tools: [{ googleSearch: {} }] }],
  service_tier: [{ service_tier: 'flex' }, { serviceTier: 'flex' }],
  modalities: [{ modalities: ['image', 'text'] }, generation({ responseModalities: ['IMAGE', 'TEXT'] })],
  reasoning_effort: [
    { reasoning_effort: 'low' },
    generation({ thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } }),
  ],
  thinking: [
    { thinking: { type: 'enabled', budget_tokens: 3000 } },
    generation({ thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } }),
  ],
  reasoning: [{ reasoning: { effort: 'low' } }, generation({ thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } })],
}

/** Parameters that are sent in the address or not at all. */
const ELSEWHERE = ['model', 'stream', 'stream_options']

/** Parameters inside messages, which the conformance suite sends. */
const INSIDE = ['messages.name', 'messages.images', 'image_url.detail', 'prompt_cache_breakpoint']

/** A value for each other parameter that is dropped or refused. */
const VALUES: Readonly<Record<string, unknown>> = {
  parallel_tool_calls: false,
  verbosity: 'low',
  prediction: { type: 'content', content: 'x' },
  store: true,
  metadata: { team: 'a' },
  user: 'u-1',
  safety_identifier: 's-1',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  prompt_cache_options: { mode: 'implicit' },
  cache_control: { type: 'ephemeral' },
  logit_bias: { 50256: -100 },
  audio: { voice: 'alloy', format: 'mp3' },
  moderation: { model: 'm' },
}

const MINIMAL: GenerateRequest = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }], generationConfig: {} }
const able = (body: object) => translate({ model: 'google/gemini-able', ...body }, { facts: { 'gemini-able': ABLE } })
const named = (support: ParameterSupport['support']) =>
  Object.keys(parameters).filter((name) => parameters[name]?.support === support)

describe('gemini: parameters', () => {
  for (const [name, [body, expected]] of Object.entries(ARRIVES)) {
    it(`${name} is sent, and nothing else`, async () => {
      expect(parameters[name]).to.include({ support: 'mapped' })
      expect(await able(body)).to.deep.equal({ ...MINIMAL, ...expected })
    })
  }

  for (const name of [...named('dropped'), ...named('refused')].filter((one) => !INSIDE.includes(one))) {
    it(`${name} is not sent`, async () => {
      expect(VALUES).to.have.property(name)
      expect(await able({ [name]: VALUES[name] })).to.deep.equal(MINIMAL)
    })
  }

  it('modalities with sound are refused', async () => {
    const asked = able({ modalities: ['text', 'audio'] }).then(
      () => undefined,
      (error: unknown) => error,
    )
    expect(await asked).to.include({ code: 'unsupported_parameter', param: 'modalities' })
  })

  it('of this test are all in the table', () => {
    expect(Object.keys(parameters)).to.have.members([...Object.keys(ARRIVES), ...ELSEWHERE, ...INSIDE, ...Object.keys(VALUES)])
  })

  it('are absent if null', async () => {
    const nothing = Object.fromEntries(Object.keys(ARRIVES).map((name) => [name, null]))
    expect(await able({ ...nothing, messages: [{ role: 'user', content: 'Hello' }] })).to.deep.equal(MINIMAL)
  })

  it('that are refused have a reason', () => {
    for (const name of named('refused')) expect(parameters[name], name).to.have.property('why').that.matches(/\.$/)
  })

  it('are on the docs page with their support', () => {
    expectParametersOn(providerPage('gemini').split('## By the Interactions API')[0]!, parameters)
  })

  it('of the configuration and facts are on the docs page', () => {
    const page = providerPage('gemini')
    expect(namesIn(page, 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
    expect(namesIn(page, 'fact')).to.have.members(Object.keys(Facts.properties))
  })
})

describe('gemini: parameters that depend on the model', () => {
  const ALL = { temperature: 0.5, top_p: 0.5, frequency_penalty: 1, presence_penalty: 1 }

  for (const [model, taken, dropped] of [
    ['gemini-2.0-flash', { temperature: 0.5, topP: 0.5, frequencyPenalty: 1, presencePenalty: 1 }, []],
    ['gemini-2.5-flash', { temperature: 0.5, topP: 0.5 }, ['frequency_penalty', 'presence_penalty']],
    ['gemini-3.5-flash', { temperature: 0.5, topP: 0.5 }, ['frequency_penalty', 'presence_penalty']],
    ['gemini-3.5-flash-lite', {}, ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty']],
    ['gemini-3.8-flash', {}, ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty']],
    ['gemini-flash-latest', {}, ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty']],
    ['gemini-9-ultra', {}, ['temperature', 'top_p', 'frequency_penalty', 'presence_penalty']],
  ] as const) {
    it(`are sent to ${model} if it takes them, and else dropped`, async () => {
      const request = await upstream({ model: `google/${model}`, ...ALL })
      expect(JSON.parse(String(request.body)).generationConfig).to.deep.equal(taken)
      expect(request.dropped).to.deep.equal(dropped)
    })
  }

  it('are not named as dropped if they have their default', async () => {
    const idle = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0, n: 1 }
    const { dropped } = await upstream({ model: 'google/gemini-3.8-flash', ...idle })
    expect(dropped).to.deep.equal([])
  })

  it('are refused if dropping them would change the meaning', async () => {
    expect(await refusalOf({ model: 'google/gemini-3.8-flash', n: 2 })).to.include({ row: 'unsupported_parameter', param: 'n' })
    expect(await configOf({ model: 'google/gemini-2.5-flash', n: 2 })).to.include({ candidateCount: 2 })
  })

  it('are configurable for unknown models', async () => {
    const facts = { 'gemini-3.8-*': { sampling: true, choices: 2, levels: ['MINIMAL'] } }
    const asked = { model: 'google/gemini-3.8-flash', temperature: 0.5, n: 2, reasoning_effort: 'high' }
    expect(await configOf(asked, { facts })).to.deep.include({
      temperature: 0.5,
      candidateCount: 2,
      thinkingConfig: { thinkingLevel: 'MINIMAL', includeThoughts: true },
    })
  })
})

describe('gemini: values that Google takes differently', () => {
  it('a seed of 64 bits becomes a stable one of 32 bits', async () => {
    const seedOf = async (seed: number) => (await configOf({ seed })).seed
    expect(await seedOf(2 ** 31 - 1)).to.equal(2 ** 31 - 1)
    const far = await seedOf(2 ** 63)
    expect(far).to.be.within(0, 2 ** 31 - 1)
    expect(await seedOf(2 ** 63)).to.equal(far)
    expect(await seedOf(-7)).to.equal(7)
  })

  it('an empty stop sequence is dropped, a blank one is sent', async () => {
    const request = await upstream({ stop: ['', '\n', 'END'] })
    expect(JSON.parse(String(request.body)).generationConfig.stopSequences).to.deep.equal(['\n', 'END'])
    expect(request.dropped).to.deep.equal(['stop'])
  })

  it('top_logprobs without logprobs is not sent', async () => {
    expect(await configOf({ top_logprobs: 3 })).to.deep.equal({})
  })
})

const format = (schema: object, more: object = {}) => ({ type: 'json_schema', json_schema: { name: 'answer', schema, ...more } })
const schemaOf = async (schema: object, more: object = {}) =>
  (await configOf({ response_format: format(schema, more) })).responseJsonSchema

describe('gemini: response_format', () => {
  it('json_object is sent as a media type', async () => {
    expect(await configOf({ response_format: { type: 'json_object' } })).to.deep.equal({ responseMimeType: 'application/json' })
  })

  it('json_schema is sent with its schema', async () => {
    const schema = {
      type: 'object',
      properties: { answer: { type: 'string' } },
      required: ['answer'],
      additionalProperties: false,
    }
    expect(await configOf({ response_format: format(schema) })).to.deep.equal({
      responseMimeType: 'application/json',
      responseJsonSchema: schema,
    })
  })

  it('text is not sent', async () => {
    expect(await configOf({ response_format: { type: 'text' } })).to.deep.equal({})
  })

  it('json_schema without a schema is refused', async () => {
    const refusal = await refusalOf({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } })
    expect(refusal).to.include({ row: 'missing_required_parameter', param: 'response_format.json_schema.schema' })
  })

  it('beside tools is an instruction for a model that does not take both', async () => {
    const both = { tools: [TOOL], response_format: { type: 'json_object' } }
    const { body } = await upstream({ ...both, model: 'google/gemini-2.5-pro' })
    expect(JSON.parse(String(body)).generationConfig).to.deep.equal({})
    expect(String(body)).to.contain('Answer with a single JSON object')
    expect(await configOf({ ...both, model: 'google/gemini-3-pro-preview' })).to.deep.equal({
      responseMimeType: 'application/json',
    })
  })

  it('is dropped if a tool is required', async () => {
    const { body, dropped } = await upstream({ tools: [TOOL], tool_choice: 'required', response_format: { type: 'json_object' } })
    expect(JSON.parse(String(body)).generationConfig).to.deep.equal({})
    expect(dropped).to.deep.equal(['response_format'])
  })
})

describe('gemini: a JSON schema', () => {
  for (const [what, schema, expected] of [
    ['a const becomes an enum of one', { const: 'a' }, { enum: ['a'] }],
    ['a const that is no string or number moves to the description', { const: null }, { description: '{const: null}' }],
    [
      'definitions are found by the name Google has for them',
      { definitions: { a: { type: 'string' } } },
      { $defs: { a: { type: 'string' } } },
    ],
    ['a reference has no other keyword', { $ref: '#/definitions/a', description: 'An a.' }, { $ref: '#/$defs/a' }],
    ['an allOf of one becomes its schema', { allOf: [{ $ref: '#/$defs/a' }], title: 'A' }, { $ref: '#/$defs/a' }],
    [
      'rules that are not kept to are told to the model',
      { type: 'string', description: 'A name.', pattern: '^a', minLength: 2 },
      { type: 'string', description: 'A name.\n\n{pattern: "^a", minLength: 2}' },
    ],
    ['several allOf move to the description', { allOf: [{}, {}] }, { description: '{allOf: [{},{}]}' }],
    ['annotations are removed', { $schema: 'x', $comment: 'y', type: 'null' }, { type: 'null' }],
    [
      'inner schemas are treated alike',
      {
        properties: { a: { const: 1 }, pattern: { type: 'string' } },
        items: { const: 2 },
        anyOf: [{ const: 3 }],
        oneOf: [{ const: 4 }],
        prefixItems: [{ const: 5 }],
        additionalProperties: { const: 6 },
        $defs: { b: { const: 7 } },
      },
      {
        properties: { a: { enum: [1] }, pattern: { type: 'string' } },
        items: { enum: [2] },
        anyOf: [{ enum: [3] }],
        oneOf: [{ enum: [4] }],
        prefixItems: [{ enum: [5] }],
        additionalProperties: { enum: [6] },
        $defs: { b: { enum: [7] } },
      },
    ],
  ] as const) {
    it(`${what}`, async () => {
      expect(await schemaOf(schema)).to.deep.equal(expected)
    })
  }

  it('has the description of the response_format if it has none', async () => {
    expect(await schemaOf({ type: 'object' }, { description: 'The answer.' })).to.deep.equal({
      type: 'object',
      description: 'The answer.',
    })
  })

  it('may have a property named __proto__', async () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"const":"a"}}}')
    expect(JSON.stringify(await schemaOf(schema))).to.equal('{"type":"object","properties":{"__proto__":{"enum":["a"]}}}')
  })
})
