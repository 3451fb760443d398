import { expect } from 'chai'
import OpenAI from 'openai'
import { type Fixture, type ScriptedModel, startFixture } from '../clients/fixture.ts'
import { CHAT_ONLY, VENDORS, type Vendor } from '../clients/vendors.ts'

const INPUT = '*** Begin Patch\n"größer" {}\n*** End Patch'
const GRAMMAR = { syntax: 'lark', definition: 'start: "*** Begin Patch"' }
const PATCH = {
  type: 'custom',
  custom: { name: 'patch', description: 'Changes files.', format: { type: 'grammar', grammar: GRAMMAR } },
}
const SHELL = { type: 'custom', custom: { name: 'shell' } }
const LOOK = { name: 'look', description: 'Looks.', parameters: { type: 'object', properties: { at: { type: 'number' } } } }
const TOOL = { type: 'function', function: { ...LOOK, name: 'watch' } }
const CALLED = { name: 'look', arguments: { at: 59 } }
const ASKED = { role: 'user', content: 'Go on.' }

/** They have all forms of tools themselves, or are not known. */
const TAKES_ALL = ['openai-compatible', 'openai', 'azure-openai']
const ADAPTED: readonly Vendor[] = [...VENDORS.filter(({ name }) => !TAKES_ALL.includes(name)), CHAT_ONLY]

interface Message {
  role: string
  content?: string | null
  tool_calls?: { index?: number; id: string; type: string; custom?: { name: string; input: string }; function?: Named }[]
  function_call?: Named
}
interface Named {
  name: string
  arguments: string
}
interface Answer {
  readonly message: Message
  readonly finish: string
  readonly dropped: string
}

describe('Tools in other forms than functions, in chat completions', () => {
  let fixture: Fixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  async function send(model: ScriptedModel, body: object): Promise<Response> {
    return fetch(`${fixture.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: model.id, ...body }),
    })
  }

  /** The answer, of which a stream is put together as SDKs do. */
  async function ask(
    model: ScriptedModel,
    body: { readonly stream?: boolean; readonly [member: string]: unknown },
  ): Promise<Answer> {
    const reply = await send(model, body)
    const text = await reply.text()
    expect(reply.status, text).to.equal(200)
    const dropped = reply.headers.get('x-umg-params-dropped') ?? ''
    if (body.stream !== true) {
      const [choice] = JSON.parse(text).choices
      return { message: choice.message, finish: choice.finish_reason, dropped }
    }
    const message: Message = { role: 'assistant' }
    let finish = ''
    for (const [, data = ''] of text.matchAll(/^data: (\{.*)$/gm)) {
      const [choice] = JSON.parse(data).choices
      finish = choice?.finish_reason ?? finish
      const delta: Message = choice?.delta ?? {}
      if (delta.function_call) {
        message.function_call ??= { name: delta.function_call.name, arguments: '' }
        message.function_call.arguments += delta.function_call.arguments ?? ''
      }
      for (const part of delta.tool_calls ?? []) {
        message.tool_calls ??= []
        const call = message.tool_calls[part.index!]
        if (call === undefined) message.tool_calls[part.index!] = part
        else if (part.custom) call.custom!.input += part.custom.input
        else call.function!.arguments += part.function?.arguments ?? ''
      }
    }
    for (const call of message.tool_calls ?? []) delete call.index
    return { message, finish, dropped }
  }

  const modelOf = ({ name }: Vendor): ScriptedModel => [...fixture.models].find(([vendor]) => vendor.name === name)![1]
  const modelAt = (name: string): ScriptedModel => modelOf(ADAPTED.find((vendor) => vendor.name === name)!)

  for (const vendor of ADAPTED) {
    for (const stream of [false, true]) {
      const how = stream ? 'streamed' : 'whole'

      // By the Responses API a custom tool is one.
      if (vendor.name !== 'openai-by-responses')
        it(`${vendor.name}: a custom tool is called, and gets its result, ${how}`, async () => {
          const model = modelOf(vendor)
          model.script([{ tools: [{ name: 'patch', arguments: { input: INPUT } }] }, { text: 'Done.' }])
          const body = { messages: [ASKED], tools: [PATCH, SHELL, TOOL], stream }
          const { message, finish, dropped } = await ask(model, body)
          expect(finish).to.equal('tool_calls')
          const [call] = message.tool_calls!
          expect(call).to.deep.include({ type: 'custom', custom: { name: 'patch', input: INPUT } })
          expect(call).to.not.have.property('function')
          expect(dropped).to.contain('tools.custom.format')
          const [first] = model.asked
          expect(first!.body).to.contain('All of the input, as plain text.')
          expect(first!.body, 'the grammar in words').to.contain('lark grammar').and.to.contain('Changes files.')
          const result = { role: 'tool', tool_call_id: call!.id, content: 'Patched.' }
          const end = await ask(model, { ...body, messages: [ASKED, message, result] })
          expect(end.finish).to.equal('stop')
          expect(model.asked[1]!.body).to.contain('Patched.').and.to.contain('Begin Patch')
        })

      it(`${vendor.name}: functions in the way before tools are called, and get their results, ${how}`, async () => {
        const model = modelOf(vendor)
        model.script([{ tools: [CALLED, CALLED] }, { text: 'Done.' }])
        const body = { messages: [ASKED], functions: [LOOK], function_call: 'auto', stream }
        const { message, finish } = await ask(model, body)
        expect(finish).to.equal('function_call')
        expect(message.function_call!.name).to.equal('look')
        expect(JSON.parse(message.function_call!.arguments)).to.deep.equal({ at: 59 })
        expect(message, 'one call a reply').to.not.have.property('tool_calls')
        const result = { role: 'function', name: 'look', content: 'Rain at 59.' }
        const end = await ask(model, { ...body, messages: [ASKED, message, result] })
        expect(end.finish).to.equal('stop')
        expect(model.asked[1]!.body).to.contain('Rain at 59.').and.to.contain('59')
        expect(model.asked[1]!.body).to.not.contain('"functions"')
      })
    }
  }

  for (const name of ['anthropic', 'gemini', 'bedrock'])
    it(`${name}: the OpenAI SDK puts a call of a custom tool together, whole and streamed, and sends it back`, async () => {
      const model = modelAt(name)
      model.answer(() => ({ text: 'Hm.', tools: [{ name: 'patch', arguments: { input: INPUT } }] }))
      const { chat } = new OpenAI({ baseURL: `${fixture.url}/v1`, apiKey: fixture.key })
      const tools: OpenAI.ChatCompletionTool[] = [{ type: 'custom', custom: { name: 'patch' } }]
      const asked = { model: model.id, messages: [{ role: 'user' as const, content: 'Go on.' }], tools }
      const whole = await chat.completions.create(asked)
      const streamed = await chat.completions.stream(asked).finalChatCompletion()
      for (const { choices } of [whole, streamed]) {
        const { message } = choices[0]!
        const [call] = message.tool_calls!
        expect(call).to.deep.include({ type: 'custom', custom: { name: 'patch', input: INPUT } })
        const result = { role: 'tool' as const, tool_call_id: call!.id, content: 'Patched.' }
        const next = await chat.completions.create({ ...asked, messages: [...asked.messages, message, result] })
        expect(next.choices[0]!.finish_reason).to.equal('tool_calls')
      }
    })

  it('anthropic: a choice of a custom tool, and of allowed ones, names its function', async () => {
    const model = modelAt('anthropic')
    model.answer(() => ({ tools: [{ name: 'shell', arguments: { input: 'ls' } }] }))
    const tools = [PATCH, SHELL, TOOL]
    await ask(model, { messages: [ASKED], tools, tool_choice: SHELL })
    const allowed = { mode: 'required', tools: [SHELL, { type: 'function', function: { name: 'watch' } }] }
    await ask(model, { messages: [ASKED], tools, tool_choice: { type: 'allowed_tools', allowed_tools: allowed } })
    await ask(model, { messages: [ASKED], functions: [LOOK, { name: 'shell' }], function_call: { name: 'shell' } })
    const [named, some, old] = model.asked.map(({ body }) => JSON.parse(body))
    expect(named.tool_choice).to.deep.equal({ type: 'tool', name: 'shell' })
    expect(some.tools.map(({ name }: { name: string }) => name)).to.deep.equal(['shell', 'watch'])
    expect(some.tool_choice).to.deep.equal({ type: 'any' })
    expect(old.tool_choice).to.deep.equal({ type: 'tool', name: 'shell' })
  })

  it('anthropic: tools, and their choice, come before functions of the same name', async () => {
    const model = modelAt('anthropic')
    model.answer(() => ({ tools: [CALLED] }))
    const tools = [{ type: 'function', function: LOOK }]
    const both = { tools, tool_choice: 'required', functions: [LOOK, { name: 'wait' }], function_call: 'none' }
    const { message } = await ask(model, { messages: [ASKED], ...both })
    expect(message.tool_calls![0]!.function!.name).to.equal('look')
    const { tools: sent, tool_choice: choice } = JSON.parse(model.asked[0]!.body)
    expect(sent.map(({ name }: { name: string }) => name)).to.deep.equal(['look', 'wait'])
    expect(choice).to.deep.equal({ type: 'any' })
  })

  it('anthropic: an input that is no argument reaches the client as it is, and names that it does not take come back', async () => {
    const model = modelAt('anthropic')
    model.answer((body) => ({ tools: [{ name: JSON.parse(body).tools[0].name, arguments: { text: 'ls' } }] }))
    const tools = [{ type: 'custom', custom: { name: 'calendar.respond/now' } }]
    for (const stream of [false, true]) {
      const { message } = await ask(model, { messages: [ASKED], tools, stream })
      expect(message.tool_calls![0]!.custom).to.deep.equal({ name: 'calendar.respond/now', input: '{"text":"ls"}' })
    }
  })

  it('anthropic: a large call, which a thread translates', async () => {
    const model = modelAt('anthropic')
    model.answer(() => ({ tools: [{ name: 'patch', arguments: { input: INPUT } }] }))
    const messages = [{ role: 'user', content: 'x'.repeat(1 << 20) }]
    const { message } = await ask(model, { messages, tools: [PATCH] })
    expect(message.tool_calls![0]!.custom).to.deep.equal({ name: 'patch', input: INPUT })
  })

  it('anthropic: a custom tool without a name is refused, and its place is named', async () => {
    const reply = await send(modelAt('anthropic'), { messages: [ASKED], tools: [TOOL, { type: 'custom', custom: {} }] })
    expect(reply.status).to.equal(400)
    expect(((await reply.json()) as { error: { param: string } }).error.param).to.equal('tools[1].custom.name')
  })

  for (const name of TAKES_ALL)
    it(`${name} gets them as they are`, async () => {
      const model = [...fixture.models.values()].find(({ vendor }) => vendor.name === name)!
      model.answer(() => ({ text: 'Hi.' }))
      await ask(model, { messages: [ASKED], tools: [PATCH], tool_choice: SHELL })
      await ask(model, { messages: [ASKED], functions: [LOOK], function_call: 'auto' })
      const [custom, old] = model.asked.map(({ body }) => JSON.parse(body))
      expect(custom.tools).to.deep.equal([PATCH])
      expect(custom.tool_choice).to.deep.equal(SHELL)
      expect(old.functions).to.deep.equal([LOOK])
    })
})
