import { expect } from 'chai'
import { refusalOf, translate, upstream } from './ollama.ts'

const tool = (name: string, more: object = {}) => ({ type: 'function', function: { name, ...more } })
const wire = (name: string, more: object = {}) => ({
  type: 'function',
  function: { name, parameters: { type: 'object', properties: {} }, ...more },
})
const schema = { type: 'object', properties: { a: { type: 'integer' } }, required: ['a'] }

describe('ollama: a request', () => {
  it('has stream false by default', async () => {
    expect(await translate({})).to.deep.equal({
      model: 'gpt-oss:20b',
      messages: [{ role: 'user', content: 'Hello' }],
      stream: false,
    })
    expect(await translate({ stream: true })).to.include({ stream: true })
  })

  it('has its numbers in options, including those of Ollama only', async () => {
    const numbers = { temperature: 0.5, top_p: 0.9, top_k: 40, min_p: 0.05, repeat_penalty: 1.1, seed: 7 }
    const { options } = await translate({
      ...numbers,
      max_tokens: 5,
      max_completion_tokens: 9,
      stop: 'END',
      frequency_penalty: null,
    })
    expect(options).to.deep.equal({ ...numbers, num_predict: 9, stop: ['END'] })
  })

  it('without options has none', async () => {
    for (const body of [{}, { temperature: null, stop: [] }, { stop: [''] }])
      expect(await translate(body)).not.to.have.property('options')
  })

  it('has the configured options, unless the client sets them', async () => {
    const config = { options: { num_ctx: 32_768, temperature: 0.1, stop: ['X'] }, keepAlive: '30m' }
    const { options, keep_alive } = await translate({ temperature: 0.9 }, config)
    expect(options).to.deep.equal({ num_ctx: 32_768, temperature: 0.9, stop: ['X'] })
    expect(keep_alive).to.equal('30m')
    expect((await translate({}, { keepAlive: -1 })).keep_alive).to.equal(-1)
  })

  for (const [effort, think] of [
    ['none', false],
    ['minimal', 'low'],
    ['low', 'low'],
    ['medium', 'medium'],
    ['high', 'high'],
    ['xhigh', 'max'],
    ['max', 'max'],
  ] as const) {
    it(`with reasoning_effort ${effort} has think ${think}`, async () => {
      expect((await translate({ reasoning_effort: effort })).think).to.equal(think)
    })
  }

  it('does not ask a model to think that does not, and names that', async () => {
    const effort = { reasoning_effort: 'high' }
    const { body, dropped } = await upstream({ ...effort, model: 'local/llama3.2' })
    expect([JSON.parse(String(body)), dropped]).to.deep.equal([
      { ...(await translate({})), model: 'llama3.2' },
      ['reasoning_effort'],
    ])
    expect((await translate({ reasoning_effort: 'none', model: 'local/llama3.2' })).think).to.equal(false)
    const facts = { 'llama*': { thinking: true }, 'gpt-oss*': { thinking: false } }
    expect((await translate({ ...effort, model: 'local/llama3.2' }, { facts })).think).to.equal('high')
    expect(await translate(effort, { facts })).not.to.have.property('think')
  })

  it('with an unknown effort is refused with a list of the known ones', async () => {
    const refusal = await refusalOf({ reasoning_effort: 'heroic' })
    expect(refusal).to.include({ code: 'invalid_value', param: 'reasoning_effort' })
    expect(refusal.message).to.contain('none, minimal, low')
  })

  it('requests log probabilities and top_logprobs', async () => {
    expect(await translate({ logprobs: true, top_logprobs: 3 })).to.include({ logprobs: true, top_logprobs: 3 })
    expect(await translate({ logprobs: true, top_logprobs: 0 })).not.to.have.property('top_logprobs')
    expect(await translate({ logprobs: false })).not.to.have.property('logprobs')
  })
})

describe('ollama: response_format', () => {
  it('is sent as json or as its schema', async () => {
    expect((await translate({ response_format: { type: 'json_object' } })).format).to.equal('json')
    const json_schema = { name: 'answer', schema }
    expect((await translate({ response_format: { type: 'json_schema', json_schema } })).format).to.deep.equal(schema)
    expect(await translate({ response_format: { type: 'text' } })).not.to.have.property('format')
  })

  it('is refused without a schema', async () => {
    expect(await refusalOf({ response_format: { type: 'json_schema', json_schema: { name: 'answer' } } })).to.include({
      code: 'missing_required_parameter',
      param: 'response_format.json_schema.schema',
    })
  })
})

describe('ollama: tools', () => {
  const tools = [tool('look'), tool('listen')]
  const choose = async (tool_choice: unknown) => (await translate({ tools, tool_choice })).tools?.map((one) => one.function.name)
  const allow = (mode: string, ...names: readonly string[]) => ({
    type: 'allowed_tools',
    allowed_tools: { mode, tools: names.map((name) => tool(name)) },
  })

  it('are sent with their parameters', async () => {
    const { tools: sent } = await translate({
      tools: [tool('add', { description: 'Adds.', parameters: schema, strict: true }), tool('wait')],
    })
    expect(sent).to.deep.equal([wire('add', { description: 'Adds.', parameters: schema }), wire('wait')])
  })

  it('are omitted if tool_choice is none', async () => {
    expect(await choose('none')).to.equal(undefined)
    expect(await choose('auto')).to.deep.equal(['look', 'listen'])
    expect(await choose(null)).to.deep.equal(['look', 'listen'])
    expect(await choose(allow('auto', 'listen'))).to.deep.equal(['listen'])
  })

  it('that is required by its name makes its schema the format of the answer', async () => {
    const named = { ...tool('add', { description: 'Adds.', parameters: schema }) }
    for (const tool_choice of [tool('add'), allow('required', 'add')]) {
      const { tools: sent, format, messages } = await translate({ tools: [...tools, named], tool_choice })
      expect({ sent, format }).to.deep.equal({ sent: undefined, format: schema })
      const [instruction, asked] = messages
      expect(instruction!.role).to.equal('system')
      expect(instruction!.content).to.contain('`add`').and.contain('"description":"Adds."')
      expect(asked).to.deep.equal({ role: 'user', content: 'Hello' })
    }
  })

  it('of which any is required make a format of names and arguments', async () => {
    const pair = {
      type: 'object',
      properties: { next: { $ref: '#' }, at: { $ref: '#/$defs/at' } },
      $defs: { at: { type: 'string' } },
    }
    const { format } = await translate({ tools: [tool('look', { parameters: pair }), tool('listen')], tool_choice: 'required' })
    const call = (name: string) => ({
      type: 'object',
      properties: { name: { const: name }, arguments: { $ref: `#/$defs/${name}` } },
      required: ['name', 'arguments'],
      additionalProperties: false,
    })
    const next = { $ref: '#/$defs/look' }
    const at = { $ref: '#/$defs/look/$defs/at' }
    expect(format).to.deep.equal({
      anyOf: [call('look'), call('listen')],
      $defs: {
        look: { type: 'object', properties: { next, at }, $defs: { at: { type: 'string' } } },
        listen: { type: 'object', properties: {} },
      },
    })
  })

  it('that are required and do not exist are refused', async () => {
    expect(await refusalOf({ tools, tool_choice: tool('smell') })).to.include({ code: 'invalid_value', param: 'tool_choice' })
    expect(await refusalOf({ tool_choice: 'required' })).to.include({ code: 'invalid_value', param: 'tool_choice' })
  })

  it('leave no answer to format if one is required: response_format is dropped', async () => {
    const body = { tools, tool_choice: 'required', response_format: { type: 'json_object' } }
    expect((await upstream(body)).dropped).to.deep.equal(['response_format'])
  })

  it('of other types are refused and their path is named', async () => {
    expect(await refusalOf({ tools: [...tools, { type: 'custom', custom: { name: 'x' } }] })).to.include({ param: 'tools[2]' })
  })
})
