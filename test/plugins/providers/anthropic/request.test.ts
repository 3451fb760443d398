import { expect } from 'chai'
import type { TObject } from 'typebox'
import type { ParameterSupport } from 'unified-model-gateway/plugin'
import plugin from '../../../../plugins/providers/anthropic/index.ts'
import { parameters } from '../../../../plugins/providers/anthropic/request.ts'
import type { MessagesRequest } from '../../../../plugins/providers/anthropic/wire.ts'
import { expectParametersOn, namesIn, providerPage } from '../../../support/provider-page.ts'
import { schemasOf, translate, upstream } from './support.ts'

const TOOL = { type: 'function', function: { name: 'look', parameters: { type: 'object', properties: {} } } }
const SCHEMA = { type: 'object' as const, properties: {}, additionalProperties: false }
const BUDGET = { thinking: { type: 'enabled' as const, budget_tokens: 3000 } }

/** Per mapped parameter: a request that uses it, and the expected members. */
const ARRIVES: Readonly<Record<string, readonly [body: Record<string, unknown>, expected: Partial<MessagesRequest>]>> = {
  model: [{ model: 'claude/claude-opus-4-5' }, { model: 'claude-opus-4-5' }],
  messages: [
    { messages: [{ role: 'user', content: 'Hi' }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi' }] }] },
  ],
  stream: [{ stream: true }, { stream: true }],
  stream_options: [{ stream: true, stream_options: { include_usage: true } }, { stream: true }],
  max_tokens: [{ max_tokens: 9 }, { max_tokens: 9 }],
  max_completion_tokens: [{ max_completion_tokens: 9 }, { max_tokens: 9 }],
  temperature: [{ temperature: 0.5 }, { temperature: 0.5 }],
  top_p: [{ top_p: 0.5 }, { top_p: 0.5 }],
  top_k: [{ top_k: 40 }, { top_k: 40 }],
  user: [{ user: 'u' }, { metadata: { user_id: 'u' } }],
  safety_identifier: [{ safety_identifier: 's', user: 'u' }, { metadata: { user_id: 's' } }],
  stop: [{ stop: ['END'] }, { stop_sequences: ['END'] }],
  tools: [{ tools: [TOOL] }, { tools: [{ name: 'look', input_schema: { type: 'object', properties: {} } }] }],
  tool_choice: [{ tools: [TOOL], tool_choice: 'required' }, { tool_choice: { type: 'any' } }],
  parallel_tool_calls: [
    { tools: [TOOL], parallel_tool_calls: false },
    { tool_choice: { type: 'auto', disable_parallel_tool_use: true } },
  ],
  response_format: [
    { response_format: { type: 'json_schema', json_schema: { name: 'answer', schema: SCHEMA } } },
    { output_config: { format: { type: 'json_schema', schema: SCHEMA } } },
  ],
  reasoning_effort: [{ reasoning_effort: 'low', max_tokens: 10_000 }, { thinking: { type: 'enabled', budget_tokens: 2000 } }],
  thinking: [{ ...BUDGET, max_tokens: 10_000, model: 'claude/claude-haiku-4-5' }, BUDGET],
  reasoning: [{ reasoning: { max_tokens: 3000 }, max_tokens: 10_000, model: 'claude/claude-haiku-4-5' }, BUDGET],
  'tools.strict': [
    { tools: [{ ...TOOL, function: { ...TOOL.function, strict: true } }] },
    { tools: [{ name: 'look', input_schema: SCHEMA, strict: true }] },
  ],
  web_search_options: [
    { web_search_options: { user_location: { type: 'approximate', approximate: { city: 'Oslo', region: null } } } },
    { tools: [{ type: 'web_search_20250305', name: 'web_search', user_location: { type: 'approximate', city: 'Oslo' } }] },
  ],
  service_tier: [{ service_tier: 'default' }, { service_tier: 'standard_only' }],
  prompt_cache_breakpoint: [
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', prompt_cache_breakpoint: { mode: 'explicit' } }] }] },
    { messages: [{ role: 'user', content: [{ type: 'text', text: 'Hi', cache_control: { type: 'ephemeral' } }] }] },
  ],
  cache_control: [{ cache_control: { type: 'ephemeral', ttl: '1h' } }, { cache_control: { type: 'ephemeral', ttl: '1h' } }],
}

const named = (support: ParameterSupport['support']) =>
  Object.keys(parameters).filter((name) => parameters[name]?.support === support)

describe('anthropic: parameters', () => {
  for (const name of named('mapped')) {
    it(`${name} is sent`, async () => {
      const [body, expected] = ARRIVES[name]!
      const request = await translate(body)
      expect(request).to.deep.include(expected)
    })
  }

  it('that are refused have a reason', () => {
    for (const name of named('refused')) expect(parameters[name], name).to.have.property('why').that.matches(/\.$/)
  })

  it('are on the docs page with their support', () => {
    expectParametersOn(providerPage('anthropic'), parameters)
  })

  it('of the configuration are on the docs page', () => {
    expect(namesIn(providerPage('anthropic'), 'option')).to.have.members(Object.keys((plugin.schema as TObject).properties))
  })
})

async function sent(body: Readonly<Record<string, unknown>>) {
  const { body: text, dropped } = await upstream(body)
  return { request: JSON.parse(String(text)), dropped }
}

describe('anthropic: sampling', () => {
  it('a temperature above 1 is sent as 1', async () => {
    expect((await sent({ temperature: 1.7 })).request.temperature).to.equal(1)
    expect((await sent({ temperature: 0 })).request.temperature).to.equal(0)
  })

  it('top_p is dropped beside a temperature', async () => {
    const { request, dropped } = await sent({ temperature: 0.3, top_p: 0.9 })
    expect(request).to.include({ temperature: 0.3 })
    expect(request).not.to.have.property('top_p')
    expect(dropped).to.deep.equal(['top_p'])
  })

  it('defaults are omitted, and not named as dropped', async () => {
    for (const model of ['claude/claude-haiku-4-5', 'claude/claude-opus-5']) {
      const { request, dropped } = await sent({ model, temperature: 1, top_p: 1 })
      expect(request).not.to.have.any.keys('temperature', 'top_p')
      expect(dropped).to.deep.equal([])
    }
  })

  for (const model of [
    'claude-opus-4-7',
    'claude-opus-4-8',
    'claude-sonnet-5',
    'claude-opus-5',
    'claude-fable-5-1',
    'claude-sonnet-5-5',
    'claude-haiku-5-5',
    'claude-quartet-9',
    'anthropic.claude-opus-5',
  ]) {
    it(`it is dropped for ${model}`, async () => {
      const { request, dropped } = await sent({ model: `claude/${model}`, temperature: 0.2, top_p: 0.9 })
      expect(request).not.to.have.any.keys('temperature', 'top_p')
      expect(dropped).to.deep.equal(['temperature', 'top_p'])
    })
  }
})

describe('anthropic: what is inside messages and tools', () => {
  it('is named in the reply where it is left out', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://images.example/a.png', detail: 'low' } }]
    const { dropped } = await sent({ messages: [{ role: 'user', name: 'Ann', content }] })
    expect(dropped).to.deep.equal(['messages.name', 'image_url.detail'])
  })

  it('is not named if it asks for nothing', async () => {
    const content = [{ type: 'image_url', image_url: { url: 'https://images.example/a.png', detail: 'auto' } }]
    const { dropped } = await sent({ tools: [TOOL], messages: [{ role: 'user', name: null, content }] })
    expect(dropped).to.deep.equal([])
  })

  it('such as strict is named for a model that does not take it', async () => {
    const strict = { ...TOOL, function: { ...TOOL.function, strict: true } }
    expect((await sent({ model: 'claude/claude-3-7-sonnet', tools: [strict] })).dropped).to.deep.equal(['tools.strict'])
    expect((await sent({ tools: [strict] })).dropped).to.deep.equal([])
  })
})

describe('anthropic: stop sequences', () => {
  it('a single one is sent as a list', async () => {
    expect((await sent({ stop: 'END' })).request.stop_sequences).to.deep.equal(['END'])
  })

  it('blank ones are dropped', async () => {
    const some = await sent({ stop: ['\n', 'END', ''] })
    expect(some.request.stop_sequences).to.deep.equal(['END'])
    expect(some.dropped).to.deep.equal(['stop'])
    const all = await sent({ stop: '\n\n' })
    expect(all.request).not.to.have.property('stop_sequences')
    expect(all.dropped).to.deep.equal(['stop'])
  })

  it('an empty list is omitted', async () => {
    expect((await sent({ stop: null })).request).not.to.have.property('stop_sequences')
  })
})

const asking = (json_schema: object) => ({
  response_format: { type: 'json_schema', json_schema: { name: 'answer', ...json_schema } },
})

async function schemaFor(schema: object) {
  return (await translate(asking({ schema, strict: true }))).output_config?.format?.schema
}

async function refusalOf(body: Readonly<Record<string, unknown>>): Promise<{ code: string; param: string; message: string }> {
  const failure: unknown = await translate(body).catch((error: unknown) => error)
  expect(failure).to.have.property('name', 'GatewayError')
  return failure as { code: string; param: string; message: string }
}

describe('anthropic: marks for the cache', () => {
  it('above the four that Claude takes are named', async () => {
    const marked = { type: 'text', text: 'Long.', cache_control: { type: 'ephemeral' } }
    const dropped = async (count: number) =>
      (await upstream({ messages: [{ role: 'user', content: Array.from({ length: count }, () => marked) }] })).dropped
    expect([await dropped(4), await dropped(5)]).to.deep.equal([[], ['cache_control']])
  })
})

describe('anthropic: response_format', () => {
  it('every object of the schema is closed', async () => {
    const point = { type: 'object', properties: { x: { type: 'number' } }, required: ['x'] }
    const closed = { ...point, additionalProperties: false }
    expect(
      await schemaFor({
        $schema: 'https://json-schema.org/draft/2020-12/schema',
        type: 'object',
        properties: {
          at: { $ref: '#/$defs/point' },
          path: { type: 'array', items: point },
          either: { anyOf: [point, { type: 'null' }] },
        },
        $defs: { point },
      }),
    ).to.deep.equal({
      type: 'object',
      properties: {
        at: { $ref: '#/$defs/point' },
        path: { type: 'array', items: closed },
        either: { anyOf: [closed, { type: 'null' }] },
      },
      $defs: { point: closed },
      additionalProperties: false,
    })
  })

  for (const [what, map] of [
    ['members of one kind', { additionalProperties: { type: 'number' } }],
    ['members of any kind', { additionalProperties: true }],
    ['members by a pattern', { patternProperties: { '^a': { type: 'number' } } }],
    ['members of any other name', { properties: { a: {} }, additionalProperties: { type: 'number' } }],
  ] as const) {
    it(`an object with ${what}, which would stay empty, is the arguments of a tool`, async () => {
      const schema = { type: 'object', properties: { list: { type: 'array', items: { anyOf: [{ type: 'object', ...map }] } } } }
      const { output_config, tools, tool_choice } = await translate(asking({ schema, strict: true }))
      expect(output_config).to.equal(undefined)
      expect(schemasOf(tools)).to.deep.equal([schema])
      expect(tool_choice).to.deep.equal({ type: 'tool', name: 'answer' })
    })
  }

  it('an object with further members of any kind is closed', async () => {
    const schema = { type: 'object', properties: { a: {} }, additionalProperties: true }
    expect(await schemaFor(schema)).to.deep.equal({ ...schema, additionalProperties: false })
  })

  it('keywords that Anthropic does not take move to the description', async () => {
    const properties = {
      age: { type: 'integer', minimum: 0, maximum: 150, description: 'In years.' },
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', format: 'barcode', pattern: '^[0-9]+$' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
      pair: { type: 'array', items: { type: 'string' }, minItems: 2 },
    }
    expect((await schemaFor({ type: 'object', properties }))?.properties).to.deep.equal({
      age: { type: 'integer', description: 'In years.\n\n{minimum: 0, maximum: 150}' },
      mail: { type: 'string', format: 'email' },
      code: { type: 'string', description: '{format: "barcode", pattern: "^[0-9]+$"}' },
      tags: { type: 'array', items: { type: 'string' }, minItems: 1 },
      pair: { type: 'array', items: { type: 'string' }, description: '{minItems: 2}' },
    })
  })

  it('oneOf becomes anyOf; enum, const and default are kept', async () => {
    const properties = { kind: { oneOf: [{ const: 'a' }, { enum: ['b', 'c'], default: 'b' }] } }
    expect((await schemaFor({ type: 'object', properties }))?.properties).to.deep.equal({
      kind: { anyOf: [{ const: 'a' }, { enum: ['b', 'c'], default: 'b' }] },
    })
  })

  it("a property may have the name of a keyword or of a prototype's member", async () => {
    const properties = JSON.parse('{"minimum":{"type":"string"},"__proto__":{"type":"object","properties":{}}}')
    const schema = await schemaFor({ type: 'object', properties })
    expect(Object.keys(schema?.properties as object)).to.deep.equal(['minimum', '__proto__'])
  })

  it('the description of the format is sent', async () => {
    const request = await translate(asking({ schema: { type: 'object', properties: {} }, description: 'A person.' }))
    expect(request.output_config?.format?.schema).to.include({ description: 'A person.' })
  })

  it('it is sent together with an effort', async () => {
    const body = {
      model: 'claude/claude-opus-5',
      reasoning_effort: 'low',
      ...asking({ schema: { type: 'object', properties: {} } }),
    }
    expect((await translate(body)).output_config).to.have.keys('effort', 'format')
  })

  it('text is not sent', async () => {
    expect(await translate({ response_format: { type: 'text' } })).not.to.have.property('output_config')
  })

  it('json_schema is refused without a schema', async () => {
    for (const schema of [undefined, null, 'string']) {
      expect(await refusalOf(asking({ schema }))).to.include({
        code: 'missing_required_parameter',
        param: 'response_format.json_schema.schema',
      })
    }
  })

  it('it is the arguments of a tool for a model without structured outputs', async () => {
    const body = { model: 'claude/claude-sonnet-4-20250514', ...asking({ schema: { type: 'object' } }) }
    expect((await translate(body)).tool_choice).to.deep.equal({ type: 'tool', name: 'answer' })
  })

  it('it is refused for a model without structured outputs, unless it is of an object', async () => {
    const body = { model: 'claude/claude-sonnet-4-20250514', ...asking({ schema: { type: 'array' } }) }
    expect(await refusalOf(body)).to.include({ code: 'unsupported_parameter', param: 'response_format.json_schema.schema' })
  })
})
