import { expect } from 'chai'
import type OpenAI from 'openai'
import { json, openaiReply, type SaidTool, sse } from '../../../core/testing/kit.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

type Tool = OpenAI.Responses.Tool
type Item = OpenAI.Responses.ResponseInputItem

interface Sent {
  readonly messages: readonly { readonly role: string; readonly content?: unknown; readonly tool_calls?: readonly object[] }[]
  readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters?: object } }[]
  readonly tool_choice?: unknown
}

const FIND: Tool = {
  type: 'tool_search',
  execution: 'client',
  description: 'Finds tools.',
  parameters: { type: 'object', properties: { query: { type: 'string' } }, required: ['query'] },
}
const READ: Tool = { type: 'function', name: 'read', parameters: { type: 'object', properties: {} }, strict: false }
const CRM: Tool = { type: 'namespace', name: 'crm', description: 'Customers.', tools: [{ type: 'function', name: 'find' }] }

describe('the tools and items of coding agents at /v1/responses, to an upstream that does not have it', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  /** What the upstream gets, and the parameters that are named as dropped. */
  async function send(body: { readonly input?: Item[] | string; readonly tools?: Tool[]; readonly tool_choice?: 'required' }) {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ text: 'Hi' }).whole))
    const { response } = await client.responses.create({ model: 'open/gpt', input: 'Go.', ...body }).withResponse()
    return { sent: (await asked).json() as Sent, dropped: response.headers.get('x-umg-params-dropped') }
  }

  const namesOf = ({ tools = [] }: Sent) => tools.map(({ function: { name } }) => name)

  for (const { tool, called, item, output, content } of TOOLS()) {
    for (const stream of [false, true]) {
      it(`gives calls of ${tool.type} as such, and takes them back${stream ? ', streamed' : ''}`, async () => {
        const { client, open } = fixture
        const asked = open.requests.length
        const reply = openaiReply({ tools: [called] })
        open.reply(stream ? sse(reply.stream) : json(reply.whole))
        const input: Item[] = [{ role: 'user', content: 'Go.' }]
        const request = { model: 'open/gpt', input, tools: [tool, READ] }
        const first = await (stream ? client.responses.stream(request).finalResponse() : client.responses.create(request))
        expect(namesOf(open.requests[asked]!.json() as Sent)).to.deep.equal([tool.type, 'read'])
        expect(first.output[0]).to.deep.include({ ...item, status: 'completed', call_id: 'call_1' })
        input.push(first.output[0] as Item, output)
        const { sent } = await send({ input, tools: [tool, READ] })
        expect(sent.messages.slice(1)).to.deep.equal([
          {
            role: 'assistant',
            content: null,
            tool_calls: [
              { id: 'call_1', type: 'function', function: { name: called.name, arguments: JSON.stringify(called.arguments) } },
            ],
          },
          { role: 'tool', tool_call_id: 'call_1', content },
        ])
      })
    }
  }

  it('offers the tools that a search found, and gives their calls with their namespace', async () => {
    const { client, open } = fixture
    const asked = open.reply(json(openaiReply({ tools: [{ name: 'crm__find', arguments: { id: 7 } }] }).whole))
    const input: Item[] = [
      { role: 'user', content: 'Go.' },
      { type: 'tool_search_call', call_id: 'c1', execution: 'client', arguments: { query: 'customers' } },
      { type: 'tool_search_output', call_id: 'c1', execution: 'client', tools: [CRM as never] },
      { role: 'user', content: 'Again.' },
      { type: 'tool_search_call', call_id: 'c2', execution: 'client', arguments: { query: 'customers' } },
      { type: 'tool_search_output', call_id: 'c2', execution: 'client', tools: [CRM as never] },
    ]
    const { output } = await client.responses.create({ model: 'open/gpt', input, tools: [FIND] })
    expect(namesOf((await asked).json() as Sent)).to.deep.equal(['tool_search', 'crm__find'])
    expect(output[0]).to.include({ type: 'function_call', name: 'find', namespace: 'crm', arguments: '{"id":7}' })
  })

  for (const stream of [false, true]) {
    it(`gives each call of a conversation an id of its own, also if the upstream numbers them in each reply${stream ? ', streamed' : ''}`, async () => {
      const { client, open } = fixture
      const call = { id: 'read:0', name: 'read', arguments: {} }
      const reply = openaiReply({ tools: [call, call] })
      const input: Item[] = [{ role: 'user', content: 'Go.' }]
      for (let turn = 0; turn < 3; turn++) {
        open.reply(stream ? sse(reply.stream) : json(reply.whole))
        const asked = { model: 'open/gpt', input, tools: [READ] }
        const { output } = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.create(asked))
        for (const item of output as Item[])
          if (item.type === 'function_call')
            input.push(item, { type: 'function_call_output', call_id: item.call_id, output: 'ok' })
      }
      const ids = input.flatMap((item) => (item.type === 'function_call' ? [item.call_id] : []))
      expect([ids.length, new Set(ids).size, ids[0]]).to.deep.equal([6, 6, 'read:0'])
    })

    it(`calls tools by names that vendors take, and gives the client its own${stream ? ', streamed' : ''}`, async () => {
      const { client, open } = fixture
      const named = { type: 'function' as const, name: 'respondToEvent/now', parameters: { type: 'object' }, strict: false }
      const tools: Tool[] = [
        { type: 'namespace', name: 'mcp__google.workspace__calendar', description: 'Dates.', tools: [named] },
        { ...named, name: `mcp__plugin_${'google_workspace_'.repeat(5)}` },
        { type: 'custom', name: 'shell.run' },
      ]
      const { sent } = await send({ tools })
      const fitted = namesOf(sent)
      for (const name of fitted) expect(name).to.match(/^[A-Za-z_][\w-]{0,63}$/)
      expect(sent.tools![0]!.function.parameters).to.deep.equal({ type: 'object', properties: {} })
      const reply = openaiReply({ tools: fitted.map((name) => ({ name, arguments: {} })) })
      open.reply(stream ? sse(reply.stream) : json(reply.whole))
      const asked = { model: 'open/gpt', input: 'Go.', tools }
      const { output } = await (stream ? client.responses.stream(asked).finalResponse() : client.responses.create(asked))
      expect(output[0]).to.include({ name: 'respondToEvent/now', namespace: 'mcp__google.workspace__calendar' })
      expect(output[1]).to.include({ name: tools[1]!.type === 'function' && tools[1]!.name })
      expect(output[2]).to.include({ type: 'custom_tool_call', name: 'shell.run' })
      const next = await send({ tools, input: output as Item[] })
      const calls = next.sent.messages[0]!.tool_calls as readonly { readonly function: { readonly name: string } }[]
      expect(calls.map(({ function: { name } }) => name)).to.deep.equal(fitted)
    })
  }

  it('adds the tools of an item to those of the request', async () => {
    const input: Item[] = [
      { type: 'additional_tools', role: 'developer', tools: [CRM, { type: 'web_search' }] },
      { role: 'user', content: 'Go.' },
    ]
    const { sent, dropped } = await send({ input, tools: [READ] })
    expect([namesOf(sent), sent.messages.length, dropped]).to.deep.equal([['read', 'crm__find'], 1, 'tools[].web_search'])
    expect(namesOf((await send({ input })).sent)).to.deep.equal(['crm__find'])
  })

  for (const [what, tool, name] of [
    ['pictures', { type: 'image_generation' }, 'image_generation'],
    ['a search of tools at OpenAI', { type: 'tool_search' }, 'tool_search'],
    ['a shell at OpenAI', { type: 'shell', environment: { type: 'container_auto' } }, 'shell'],
  ] as [string, Tool, string][]) {
    it(`leaves out ${what} beside other tools, and names it`, async () => {
      const { sent, dropped } = await send({ tools: [tool, READ] })
      expect([namesOf(sent), dropped]).to.deep.equal([['read'], `tools[].${name}`])
    })

    it(`refuses ${what} alone, or if a tool is required`, async () => {
      for (const body of [{ tools: [tool] }, { tools: [READ, tool], tool_choice: 'required' as const }]) {
        const refused = fixture.client.responses.create({ model: 'open/gpt', input: 'Go.', ...body })
        const error = await refused.catch((thrown: unknown) => thrown)
        expect(error).to.have.property('code', 'unsupported_parameter')
      }
    })
  }

  for (const [what, item, name] of [
    ['a search of the web that OpenAI has done', { type: 'web_search_call', id: 'ws_1', status: 'completed' }, 'web_search_call'],
    ['a picture that OpenAI has drawn', { type: 'image_generation_call', id: 'ig_1', result: 'AAAA' }, 'image_generation_call'],
    ["another model's reasoning", { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAA' }, 'reasoning'],
    ['a reference to reasoning', { type: 'item_reference', id: 'rs_1' }, 'item_reference'],
    ['a reference to reasoning without its type', { id: 'rs_1' }, 'item_reference'],
  ] as [string, Item, string][]) {
    it(`goes on without ${what}, and names it`, async () => {
      const { sent, dropped } = await send({ input: [{ role: 'user', content: 'Go.' }, item, { role: 'user', content: 'On.' }] })
      expect(sent.messages).to.deep.equal([
        { role: 'user', content: 'Go.' },
        { role: 'user', content: 'On.' },
      ])
      expect(dropped).to.equal(`input.${name}`)
    })
  }
})

/** A tool that the API defines, a call of it by the model, the item that the client gets and its output, and what the model reads of that. */
interface DefinedTool {
  readonly tool: Tool
  readonly called: SaidTool
  readonly item: object
  readonly output: Item
  readonly content: string
}

function TOOLS(): readonly DefinedTool[] {
  const command = ['ls', '-l']
  const limits = { timeout_ms: null }
  return [
    {
      tool: FIND,
      called: { name: 'tool_search', arguments: { query: 'customers' } },
      item: { type: 'tool_search_call', execution: 'client', arguments: { query: 'customers' } },
      output: { type: 'tool_search_output', call_id: 'call_1', tools: [CRM as never] },
      content: 'These tools can be called now: crm__find',
    },
    {
      tool: { type: 'local_shell' },
      called: { name: 'local_shell', arguments: { command } },
      item: { type: 'local_shell_call', action: { type: 'exec', command, env: {}, ...limits, working_directory: null } },
      output: { type: 'local_shell_call_output', id: 'call_1', output: 'a.txt' },
      content: 'a.txt',
    },
    {
      tool: { type: 'shell', environment: { type: 'local' } },
      called: { name: 'shell', arguments: { commands: ['ls'], timeout_ms: 5000 } },
      item: { type: 'shell_call', action: { commands: ['ls'], timeout_ms: 5000, max_output_length: null } },
      output: {
        type: 'shell_call_output',
        call_id: 'call_1',
        output: [{ stdout: 'a.txt', stderr: '', outcome: { type: 'exit', exit_code: 0 } }],
      },
      content: '[{"stdout":"a.txt","stderr":"","outcome":{"type":"exit","exit_code":0}}]',
    },
    {
      tool: { type: 'apply_patch' },
      called: { name: 'apply_patch', arguments: { type: 'create_file', path: 'a.txt', diff: '+a' } },
      item: { type: 'apply_patch_call', operation: { type: 'create_file', path: 'a.txt', diff: '+a' } },
      output: { type: 'apply_patch_call_output', call_id: 'call_1', status: 'failed', output: 'It exists.' },
      content: 'failed\nIt exists.',
    },
  ]
}
