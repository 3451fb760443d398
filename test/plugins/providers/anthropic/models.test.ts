import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect } from 'chai'
import { Secret } from 'unified-model-gateway/plugin'
import { createProvider } from 'unified-model-gateway/plugin/testing'
import plugin from '../../../../plugins/providers/anthropic/index.ts'
import shipped from '../../../../plugins/providers/anthropic/models.json' with { type: 'json' }
import { Facts } from '../../../../plugins/providers/anthropic/models.ts'
import { namesIn, providerPage } from '../../../support/provider-page.ts'
import { anthropic, upstream } from './support.ts'

const configured = (facts: unknown) => createProvider(plugin, { apiKey: new Secret('sk-ant-very-secret'), facts })

async function sent(body: Readonly<Record<string, unknown>>, facts: object) {
  const { body: text } = await upstream({ model: 'claude/claude-quartet-9', ...body }, { facts })
  return JSON.parse(String(text))
}

describe('anthropic: facts about models', () => {
  it('in models.json match the schema of routes.yaml', () => configured(shipped))

  it("come from the operator's rows first, one by one", async () => {
    const facts = {
      'claude-quartet-*': { sampling: true, alwaysThinks: false, maxTokens: 2000 },
      'claude-*': { maxTokens: 3000 },
    }
    expect(await sent({ temperature: 0.5 }, facts)).to.include({ temperature: 0.5, max_tokens: 2000 })
    const other = await sent({ model: 'claude/claude-opus-4-8', temperature: 0.5 }, facts)
    expect(other).to.include({ max_tokens: 3000 }).and.not.have.property('temperature')
  })

  for (const [fact, value, body, expected] of [
    [
      'structuredOutputs',
      false,
      { tools: [{ type: 'function', function: { name: 'x', strict: true } }] },
      { tools: [{ name: 'x', input_schema: { type: 'object', properties: {} } }] },
    ],
    [
      'thinking',
      'budget',
      { reasoning_effort: 'medium', max_tokens: 4000 },
      { thinking: { type: 'enabled', budget_tokens: 2000 } },
    ],
    ['alwaysThinks', false, { reasoning_effort: 'none' }, { output_config: { effort: 'low' } }],
    ['thinkingOff', 'disabled', { reasoning_effort: 'none' }, { thinking: { type: 'disabled' } }],
    ['xhigh', false, { reasoning_effort: 'xhigh' }, { output_config: { effort: 'high' } }],
  ] as const) {
    it(`${fact} changes the request`, async () => {
      expect(await sent(body, { '*': { [fact]: value } })).to.deep.include(expected)
    })
  }

  it('forcedTools refuses a required tool', async () => {
    const body = { tools: [{ type: 'function', function: { name: 'x' } }], tool_choice: 'required' }
    expect((await sent(body, {})).tool_choice).to.deep.equal({ type: 'any' })
    const refusal: unknown = await sent(body, { '*': { forcedTools: false } }).catch((error: unknown) => error)
    expect(refusal).to.include({ code: 'unsupported_parameter', param: 'tool_choice' })
  })

  for (const [what, facts] of [
    ['an unknown fact', { 'claude-*': { temperature: true } }],
    ['an unknown kind of thinking', { 'claude-*': { thinking: 'hard' } }],
    ['no token', { 'claude-*': { maxTokens: 0 } }],
  ] as const) {
    it(`cannot be configured with ${what}`, async () => {
      const failure = await configured(facts).catch((error: unknown) => error)
      expect(String(failure)).to.contain('the config of anthropic/facts/claude-*')
    })
  }

  it('are all on the docs page', () => {
    expect(namesIn(providerPage('anthropic'), 'fact')).to.have.members(Object.keys(Facts.properties))
  })
})

describe('anthropic: discovery', () => {
  const asked: IncomingMessage[] = []
  let answer: (request: IncomingMessage, response: ServerResponse) => void
  let server: Server

  before(async () => {
    server = createServer((request, response) => {
      asked.push(request)
      answer(request, response)
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
  })

  beforeEach(() => {
    asked.length = 0
  })

  after(() => {
    server?.closeAllConnections()
    server?.close()
  })

  async function discover(signal = new AbortController().signal) {
    const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
    return (await anthropic({ baseUrl })).models!(signal)
  }

  function page(response: ServerResponse, body: unknown): void {
    response.setHeader('content-type', 'application/json').end(JSON.stringify(body))
  }

  it('all pages are read with the key', async () => {
    const pages: Record<string, unknown> = {
      '/v1/models?limit=1000': {
        data: [{ type: 'model', id: 'claude-opus-5', created_at: '2026-07-24T00:00:00Z', max_input_tokens: 1_000_000 }],
        has_more: true,
        last_id: 'claude-opus-5',
      },
      '/v1/models?limit=1000&after_id=claude-opus-5': {
        data: [{ id: 'claude-haiku-4-5', created_at: '1970-01-01T00:00:00Z', max_input_tokens: null }, null, { id: 3 }],
        has_more: false,
        last_id: 'claude-haiku-4-5',
      },
    }
    answer = ({ url }, response) => page(response, pages[url!])
    expect(await discover()).to.deep.equal([
      { id: 'claude-opus-5', owned_by: 'anthropic', created: 1_784_851_200, context_length: 1_000_000 },
      { id: 'claude-haiku-4-5', owned_by: 'anthropic' },
    ])
    expect(asked[0]!.headers).to.include({ 'x-api-key': 'sk-ant-very-secret', 'anthropic-version': '2023-06-01' })
  })

  it('an endless list ends after a limit of pages', async () => {
    answer = (_, response) => page(response, { data: [], has_more: true, last_id: `model-${asked.length}` })
    await discover()
    expect(asked).to.have.length(30)
  })

  it('a list that repeats its cursor ends at once', async () => {
    answer = (_, response) => page(response, { data: [], has_more: true, last_id: 'same' })
    await discover()
    expect(asked).to.have.length(2)
  })

  it('the error for a refused key does not contain the key', async () => {
    answer = (_, response) => response.writeHead(401).end('{"error":{}}')
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(String(failure)).to.match(/\/v1\/models\?limit=1000: status 401; check the API key$/)
    expect(String(failure)).to.not.include('sk-ant')
  })

  it('a redirect is not followed', async () => {
    answer = (_, response) => response.writeHead(302, { location: '/elsewhere' }).end()
    const failure: unknown = await discover().catch((error: unknown) => error)
    expect(failure).to.be.instanceOf(Error)
    expect(asked).to.have.length(1)
  })

  it('it stops when its signal aborts', async () => {
    const waiting = new AbortController()
    answer = () => waiting.abort()
    const failure: unknown = await discover(waiting.signal).catch((error: unknown) => error)
    expect(String(failure)).to.match(/: AbortError$/)
  })
})
