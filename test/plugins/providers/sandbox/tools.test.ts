import { expect } from 'chai'
import { complete, refusal, saying, stream } from './sandbox.ts'

const tool = (name: string, parameters?: object) => ({ type: 'function', function: { name, ...(parameters && { parameters }) } })

const WEATHER = tool('weather', {
  type: 'object',
  properties: { city: { type: 'string' }, unit: { enum: ['C', 'F'] }, days: { type: 'integer', minimum: 3 } },
  required: ['city'],
})
const TIME = tool('time')
const tools = [WEATHER, TIME]

const called = async (body: Record<string, unknown>) => {
  const { choices } = await complete({ ...saying('Hi'), tools, ...body })
  const [choice] = choices
  return { finish: choice!.finish_reason, content: choice!.message.content, calls: choice!.message.tool_calls ?? [] }
}

const namesOf = async (body: Record<string, unknown>) => (await called(body)).calls.map((call) => call.function!.name)

describe('sandbox: tools', () => {
  it('a required tool is called, with arguments that fit its schema', async () => {
    const { finish, content, calls } = await called({ tool_choice: 'required' })
    expect({ finish, content }).to.deep.equal({ finish: 'tool_calls', content: null })
    expect(calls).to.have.length(1)
    expect(calls[0])
      .to.include({ type: 'function' })
      .and.have.property('id')
      .that.matches(/^call_/)
    expect(calls[0]!.function!.name).to.equal('weather')
    expect(JSON.parse(calls[0]!.function!.arguments)).to.deep.equal({ city: 'sandbox', unit: 'C', days: 3 })
  })

  it('a named tool is called, one without parameters with an empty object', async () => {
    const { calls } = await called({ tool_choice: { type: 'function', function: { name: 'time' } } })
    expect(calls.map(({ function: call }) => call)).to.deep.equal([{ name: 'time', arguments: '{}' }])
  })

  it('one of the allowed tools is called where one is required', async () => {
    const allowed = (mode: string) => ({
      type: 'allowed_tools',
      allowed_tools: { mode, tools: [{ type: 'function', function: { name: 'time' } }] },
    })
    expect(await namesOf({ tool_choice: allowed('required') })).to.deep.equal(['time'])
    expect(await namesOf({ tool_choice: allowed('auto') })).to.deep.equal([])
  })

  for (const tool_choice of ['auto', 'none', null, undefined]) {
    it(`tool_choice ${tool_choice} is answered with text`, async () => {
      expect(await called({ tool_choice })).to.deep.equal({ finish: 'stop', content: 'Hi', calls: [] })
    })
  }

  it('the message can ask for calls, several at once', async () => {
    const { calls } = await called(saying('sandbox: tool=time,weather,time'))
    expect(calls.map((call) => call.function!.name)).to.deep.equal(['time', 'weather', 'time'])
    expect(new Set(calls.map(({ id }) => id))).to.have.length(3)
  })

  it('several calls together are given up soon where their arguments are too long', async () => {
    const long = tool('long', { type: 'object', properties: { text: { type: 'string', minLength: 9000 } } })
    expect((await called({ ...saying('sandbox: tool=long,long'), tools: [long] })).calls).to.have.length(2)
    const { status, error } = await refusal({ ...saying('sandbox: tool=long,long,long,long,long,long,long,long'), tools: [long] })
    expect([status, error.param]).to.deep.equal([400, 'tools[0].function.parameters'])
    expect(error.message).to.match(/too many or too long values/)
  })

  it('of many tools the allowed one is called', async () => {
    const names = Array.from({ length: 500 }, (_, index) => `tool_${index}`)
    const allowed_tools = {
      mode: 'required',
      tools: [{ type: 'function' }, { type: 'function', function: { name: 'tool_321' } }],
    }
    const tool_choice = { type: 'allowed_tools', allowed_tools }
    expect(await namesOf({ tool_choice, tools: names.map((name) => tool(name)) })).to.deep.equal(['tool_321'])
  })

  it('a tool’s result is answered with text, though a tool is required', async () => {
    const messages = [
      ...saying('sandbox: tool=time').messages,
      {
        role: 'assistant',
        content: null,
        tool_calls: [{ id: 'call_1', type: 'function', function: { name: 'time', arguments: '{}' } }],
      },
      { role: 'tool', tool_call_id: 'call_1', content: '12:00' },
    ]
    expect(await called({ messages, tool_choice: 'required' })).to.include({ finish: 'stop', content: 'The tool said: 12:00' })
  })

  it('a stream has the name first, then arguments that concatenate to the JSON', async () => {
    const body = { ...saying('sandbox: tool=time,weather'), tools }
    const deltas = (await stream(body)).flatMap(({ choices }) => choices.map(({ delta }) => delta))
    expect(deltas[0]).to.deep.equal({ role: 'assistant', content: null, refusal: null })
    const parts = deltas.flatMap(({ tool_calls }) => tool_calls ?? [])
    const { calls } = await called(body)
    for (const [index, call] of calls.entries()) {
      const [first, ...rest] = parts.filter((part) => part.index === index)
      expect(first).to.deep.include({ type: 'function', function: { name: call.function!.name, arguments: '' } })
      expect(first!.id).to.match(/^call_[0-9a-f]{24}$/)
      expect(rest.map((part) => part.function!.arguments).join('')).to.equal(call.function!.arguments)
      expect(rest.every((part) => part.id === undefined && part.function!.name === undefined)).to.equal(true)
    }
    expect(parts.filter(({ index }) => index === 1)).to.have.length.greaterThan(3)
  })

  it('a limit cuts arguments short, as it does at OpenAI', async () => {
    const { finish, calls } = await called({ tool_choice: 'required', max_tokens: 3 })
    expect(finish).to.equal('length')
    expect(calls[0]!.function!.arguments).to.equal('{"city":"sandbox",')
  })

  it('a tool that is not there is a 400', async () => {
    const choices = [
      { type: 'function', function: { name: 'nope' } },
      { type: 'custom', custom: { name: 'nope' } },
    ]
    for (const body of [...choices.map((tool_choice) => ({ tool_choice })), saying('sandbox: tool=nope')]) {
      const { status, error } = await refusal({ ...saying('Hi'), tools, ...body })
      expect(status).to.equal(400)
      expect(error).to.include({ type: 'invalid_request_error', param: 'tools' })
      expect(error.message).to.include("'nope'")
    }
  })

  it('a tool whose arguments cannot be made up is a 400 that names it', async () => {
    const { status, error } = await refusal({
      ...saying('Hi'),
      tools: [TIME, tool('f', { not: {} })],
      tool_choice: { type: 'function', function: { name: 'f' } },
    })
    expect(status).to.equal(400)
    expect(error).to.include({ param: 'tools[1].function.parameters' })
    expect(error.message).to.include("'not' is not supported")
  })
})
