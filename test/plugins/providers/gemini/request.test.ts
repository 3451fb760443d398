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

/** Per mapped parameter: a request that uses it, and what of it must arrive. */
const ARRIVES: Readonly<Record<string, readonly [body: object, expected: object]>> = {
  messages: [{ messages: [{ role: 'user', content: 'Hi' }] }, { contents: [{ role: 'user', parts: [{ text: 'Hi' }] }] }],
  max_tokens: [{ max_tokens: 9 }, generation({ maxOutputTokens: 9 })],
  max_completion_tokens: [{ max_tokens: 7, max_completion_tokens: 9 }, generation({ maxOutputTokens: 9 })],
  temperature: [{ temperature: 1.5 }, generation({ temperature: 1.5 })],
  top_p: [{ top_p: 0.5 }, generation({ topP: 0.5 })],
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
  reasoning_effort: [
    { reasoning_effort: 'low' },
    generation({ thinkingConfig: { thinkingLevel: 'LOW', includeThoughts: true } }),
  ],
}

/** Those that arrive in the address, or never leave the gateway. */
const ELSEWHERE = ['model', 'stream', 'stream_options']

/** A value that means something, for each parameter that is left out or refused. */
const VALUES: Readonly<Record<string, unknown>> = {
  parallel_tool_calls: false,
  verbosity: 'low',
  prediction: { type: 'content', content: 'x' },
  service_tier: 'flex',
  store: true,
  metadata: { team: 'a' },
  user: 'u-1',
  safety_identifier: 's-1',
  prompt_cache_key: 'k',
  prompt_cache_retention: '24h',
  prompt_cache_options: { mode: 'implicit' },
  logit_bias: { 50256: -100 },
  modalities: ['text', 'audio'],
  audio: { voice: 'alloy', format: 'mp3' },
  functions: [{ name: 'look' }],
  function_call: 'auto',
  web_search_options: {},
  moderation: { model: 'm' },
}

const MINIMAL: GenerateRequest = { contents: [{ role: 'user', parts: [{ text: 'Hello' }] }], generationConfig: {} }
const able = (body: object) => translate({ model: 'google/gemini-able', ...body }, { facts: { 'gemini-able': ABLE } })
const named = (support: ParameterSupport['support']) =>
  Object.keys(parameters).filter((name) => parameters[name]?.support === support)

describe('gemini: what becomes of each parameter', () => {
  for (const [name, [body, expected]] of Object.entries(ARRIVES)) {
    it(`${name} arrives, and nothing else`, async () => {
      expect(parameters[name]).to.include({ support: 'mapped' })
      expect(await able(body)).to.deep.equal({ ...MINIMAL, ...expected })
    })
  }

  for (const name of [...named('dropped'), ...named('refused')]) {
    it(`${name} has no part in what is sent`, async () => {
      expect(VALUES).to.have.property(name)
      expect(await able({ [name]: VALUES[name] })).to.deep.equal(MINIMAL)
    })
  }

  it('every parameter of the test is in the table', () => {
    expect(Object.keys(parameters)).to.have.members([...Object.keys(ARRIVES), ...ELSEWHERE, ...Object.keys(VALUES)])
  })

  it('what is null is as good as absent', async () => {
    const nothing = Object.fromEntries(Object.keys(ARRIVES).map((name) => [name, null]))
    expect(await able({ ...nothing, messages: [{ role: 'user', content: 'Hello' }] })).to.deep.equal(MINIMAL)
  })

  it('what is refused says what to do instead', () => {
    for (const name of named('refused')) expect(parameters[name], name).to.have.property('why').that.matches(/\.$/)
  })

  it('the page lists every parameter with its support', () => {
    expectParametersOn(providerPage('gemini'), parameters)
  })

  it('the page lists every option and every fact', () => {
    const page = providerPage('gemini')
    expect(namesIn(page, 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
    expect(namesIn(page, 'fact')).to.have.members(Object.keys(Facts.properties))
  })
})

describe('gemini: parameters that a model does not take', () => {
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
    it(`${model} is sent what it takes, and the rest is said to be dropped`, async () => {
      const request = await upstream({ model: `google/${model}`, ...ALL })
      expect(JSON.parse(String(request.body)).generationConfig).to.deep.equal(taken)
      expect(request.dropped).to.deep.equal(dropped)
    })
  }

  it('are not said to be dropped where they change nothing', async () => {
    const idle = { temperature: 1, top_p: 1, frequency_penalty: 0, presence_penalty: 0, n: 1 }
    const { dropped } = await upstream({ model: 'google/gemini-3.8-flash', ...idle })
    expect(dropped).to.deep.equal([])
  })

  it('are refused where leaving them out would change what is asked for: one choice is not two', async () => {
    expect(await refusalOf({ model: 'google/gemini-3.8-flash', n: 2 })).to.include({ row: 'unsupported_parameter', param: 'n' })
    expect(await configOf({ model: 'google/gemini-2.5-flash', n: 2 })).to.include({ candidateCount: 2 })
  })

  it('are told by the operator, where the gateway does not know better', async () => {
    const facts = { 'gemini-3.8-*': { sampling: true, choices: 2, levels: ['MINIMAL'] } }
    const asked = { model: 'google/gemini-3.8-flash', temperature: 0.5, n: 2, reasoning_effort: 'high' }
    expect(await configOf(asked, { facts })).to.deep.include({
      temperature: 0.5,
      candidateCount: 2,
      thinkingConfig: { thinkingLevel: 'MINIMAL', includeThoughts: true },
    })
  })
})

describe('gemini: numbers and words that Google takes otherwise', () => {
  it('a seed of 64 bits becomes one of 32, and always the same one', async () => {
    const seedOf = async (seed: number) => (await configOf({ seed })).seed
    expect(await seedOf(2 ** 31 - 1)).to.equal(2 ** 31 - 1)
    const far = await seedOf(2 ** 63)
    expect(far).to.be.within(0, 2 ** 31 - 1)
    expect(await seedOf(2 ** 63)).to.equal(far)
    expect(await seedOf(-7)).to.equal(7)
  })

  it('an empty stop sequence is dropped, a blank one is not', async () => {
    const request = await upstream({ stop: ['', '\n', 'END'] })
    expect(JSON.parse(String(request.body)).generationConfig.stopSequences).to.deep.equal(['\n', 'END'])
    expect(request.dropped).to.deep.equal(['stop'])
  })

  it('top_logprobs without logprobs asks for nothing', async () => {
    expect(await configOf({ top_logprobs: 3 })).to.deep.equal({})
  })
})

const format = (schema: object, more: object = {}) => ({ type: 'json_schema', json_schema: { name: 'answer', schema, ...more } })
const schemaOf = async (schema: object, more: object = {}) =>
  (await configOf({ response_format: format(schema, more) })).responseJsonSchema

describe('gemini: JSON as the answer', () => {
  it('of any shape is asked for by its type', async () => {
    expect(await configOf({ response_format: { type: 'json_object' } })).to.deep.equal({ responseMimeType: 'application/json' })
  })

  it('by a schema has the schema', async () => {
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

  it('is not asked for by the format text', async () => {
    expect(await configOf({ response_format: { type: 'text' } })).to.deep.equal({})
  })

  it('by a schema that is not there is refused', async () => {
    const refusal = await refusalOf({ response_format: { type: 'json_schema', json_schema: { name: 'x' } } })
    expect(refusal).to.include({ row: 'missing_required_parameter', param: 'response_format.json_schema.schema' })
  })

  it('beside tools is refused by a model that cannot do both, and taken by one that can', async () => {
    const both = { tools: [TOOL], response_format: { type: 'json_object' } }
    expect(await refusalOf({ ...both, model: 'google/gemini-2.5-pro' })).to.include({
      row: 'unsupported_parameter',
      param: 'response_format',
    })
    expect(await configOf({ ...both, model: 'google/gemini-3-pro-preview' })).to.deep.equal({
      responseMimeType: 'application/json',
    })
  })

  it('is left out, and said to be, where a tool must be called: there is no answer then', async () => {
    const { body, dropped } = await upstream({ tools: [TOOL], tool_choice: 'required', response_format: { type: 'json_object' } })
    expect(JSON.parse(String(body)).generationConfig).to.deep.equal({})
    expect(dropped).to.deep.equal(['response_format'])
  })
})

describe('gemini: a schema', () => {
  for (const [what, schema, expected] of [
    ['a const becomes an enum of one', { const: 'a' }, { enum: ['a'] }],
    ['a const that is no word or number is told', { const: null }, { description: '{const: null}' }],
    [
      'definitions are found by the name Google has for them',
      { definitions: { a: { type: 'string' } } },
      { $defs: { a: { type: 'string' } } },
    ],
    ['a reference stands alone', { $ref: '#/definitions/a', description: 'An a.' }, { $ref: '#/$defs/a' }],
    ['an allOf of one is that one', { allOf: [{ $ref: '#/$defs/a' }], title: 'A' }, { $ref: '#/$defs/a' }],
    [
      'rules that are not kept to are told to the model',
      { type: 'string', description: 'A name.', pattern: '^a', minLength: 2 },
      { type: 'string', description: 'A name.\n\n{pattern: "^a", minLength: 2}' },
    ],
    ['several allOf are told too', { allOf: [{}, {}] }, { description: '{allOf: [{},{}]}' }],
    ['what means nothing to a model is left out', { $schema: 'x', $comment: 'y', type: 'null' }, { type: 'null' }],
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

  it("has the format's own description where it has none", async () => {
    expect(await schemaOf({ type: 'object' }, { description: 'The answer.' })).to.deep.equal({
      type: 'object',
      description: 'The answer.',
    })
  })

  it('may name a property as an object names its prototype', async () => {
    const schema = JSON.parse('{"type":"object","properties":{"__proto__":{"const":"a"}}}')
    expect(JSON.stringify(await schemaOf(schema))).to.equal('{"type":"object","properties":{"__proto__":{"enum":["a"]}}}')
  })
})
