import { expect } from 'chai'
import { json, openaiReply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const SEARCH = { type: 'web_search' }
const RESPONSE = {
  id: 'resp_1',
  object: 'response',
  status: 'completed',
  output: [{ type: 'message', role: 'assistant', content: [] }],
}
const MCP = { type: 'mcp', server_url: 'https://mcp.example' }

describe('hostedTools of a namespace', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ path }) => json(path.endsWith('/responses') ? RESPONSE : openaiReply({ text: 'Hello!' }).whole))
    const config = { baseUrl: `${upstream.origin}/v1` }
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          any: { provider: 'openai-compatible', config },
          native: { provider: 'openai-compatible', config: { ...config, responses: true }, hostedTools: ['web_search'] },
          some: { provider: 'openai-compatible', config, hostedTools: ['web_search'] },
          none: { provider: 'openai-compatible', config, hostedTools: [] },
          acme: { models: { smart: { targets: [{ model: 'none/m' }], fallbacks: ['some/m'] } } },
        },
        prices: { models: { 'any/*': { input: 1, output: 1 }, 'some/*': { input: 1, output: 1 }, 'none/*': { free: true } } },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function statusOf(model: string, tools: readonly object[], key = gateway.liveKey): Promise<number> {
    const messages = [{ role: 'user', content: 'Hi.' }]
    const reply = await gateway.fetch('/v1/chat/completions', { key, json: { model, messages, tools } })
    await reply.text()
    return reply.status
  }

  it('absent allows all', async () => {
    expect(await statusOf('any/m', [SEARCH, MCP])).to.equal(200)
  })

  it('allows what it lists, and nothing else', async () => {
    expect(await statusOf('some/m', [SEARCH])).to.equal(200)
    expect(await statusOf('some/m', [SEARCH, MCP])).to.equal(400)
    expect(await statusOf('some/m', [{ type: 'web_search_2025_08_26' }])).to.equal(200)
    expect(await statusOf('none/m', [SEARCH])).to.equal(400)
    expect(await statusOf('none/m', [{ type: 'function', function: { name: 'f' } }])).to.equal(200)
  })

  it('holds for large bodies, which a thread reads', async () => {
    const large = { type: 'function', function: { name: 'f', description: 'x'.repeat(2 << 20) } }
    expect(await statusOf('some/m', [large, MCP])).to.equal(400)
    expect(await statusOf('some/m', [large, SEARCH])).to.equal(200)
  })

  it('leaves a target out that does not allow a tool, and takes the next one', async () => {
    expect(await statusOf('acme/smart', [SEARCH])).to.equal(200)
  })

  it('must list a tool for a caller with a budget', async () => {
    const key = await gateway.key({ budgets: ['5 USD/day'] })
    expect(await statusOf('any/m', [SEARCH], key)).to.equal(400)
    expect(await statusOf('some/m', [SEARCH], key)).to.equal(200)
  })

  it('counts the tools that items of a conversation add, whatever adds them', async () => {
    const message = { role: 'user', content: 'Hi.' }
    const statusWith = async (input: readonly object[]): Promise<number> => {
      const reply = await gateway.fetch('/v1/responses', { json: { model: 'native/m', input } })
      await reply.text()
      return reply.status
    }
    const [local, large] = [
      { type: 'function', name: 'f', parameters: {} },
      { ...message, content: 'x'.repeat(2 << 20) },
    ]
    for (const type of ['additional_tools', 'tool_search_output', 'not_yet_known']) {
      const adding = (tool: object) => ({ type, role: 'developer', call_id: 'c', tools: [tool] })
      expect(await statusWith([adding(local), adding(SEARCH), message]), type).to.equal(200)
      expect(await statusWith([adding(local), message, adding(MCP)]), type).to.equal(400)
      expect(await statusWith([large, adding(MCP)]), type).to.equal(400)
    }
  })

  it('counts no tool that a translation leaves out, as Codex offers beside its own', async () => {
    const key = await gateway.key({ budgets: ['5 USD/day'] })
    const tools = [{ type: 'function', name: 'f', parameters: {} }, SEARCH]
    const reply = await gateway.fetch('/v1/responses', { key, json: { model: 'any/m', input: 'Hi.', tools } })
    expect([reply.status, reply.headers.get('x-umg-params-dropped')]).to.deep.equal([200, 'tools[].web_search'])
    expect(
      (await gateway.fetch('/v1/responses', { key, json: { model: 'any/m', input: 'Hi.', tools: [SEARCH] } })).status,
    ).to.equal(400)
  })
})
