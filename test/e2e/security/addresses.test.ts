// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import { json, type ReceivedRequest, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { ask, type Dialect } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'

/** The names by which gateways have let a request say where it goes, or with which credential. */
const NAMES = [
  'api_base',
  'base_url',
  'baseURL',
  'baseUrl',
  'endpoint',
  'host',
  'origin',
  'url',
  'proxy',
  'api_host',
  'custom_host',
  'azure_endpoint',
  'aws_bedrock_runtime_endpoint',
  'vertex_ai_location',
  'callback_url',
  'webhook',
]

const HEADERS = [
  'x-portkey-custom-host',
  'x-upstream-url',
  'x-base-url',
  'x-api-base',
  'api-base',
  'x-target-url',
  'helicone-target-url',
  'x-gateway-override-host',
  'x-forwarded-host',
  'x-original-url',
  'openai-api-base',
]

/** Where such members are refused by an upstream that gets the client's own bytes: other gateways follow them. */
const REFUSED: ReadonlySet<string> = new Set(['of a request', 'of its user_config', 'of its extra_body'])

describe('The address and credential of an upstream', () => {
  let open: ScriptedUpstream
  let claude: ScriptedUpstream
  /** Where nothing of ours may ever go. */
  let elsewhere: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    ;[open, claude, elsewhere] = await Promise.all([scriptedUpstream(), scriptedUpstream(), scriptedUpstream()])
    open.on(() => json(openai.whole({ text: ['Hi!'] })))
    claude.on(() => json(anthropic.whole({ text: ['Hi!'] })))
    gateway = await startTestGateway({
      env: { OPEN_KEY: openai.apiKey, CLAUDE_KEY: anthropic.apiKey },
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: {
          open: { provider: 'openai-compatible', config: { baseUrl: `${open.origin}/v1`, apiKey: '${env:OPEN_KEY}' } },
          claude: { provider: 'anthropic', config: { baseUrl: claude.origin, apiKey: '${env:CLAUDE_KEY}' } },
        },
      },
    })
  })

  after(async () => {
    await gateway?.stop()
    await Promise.all([open?.close(), claude?.close(), elsewhere?.close()])
  })

  const last = (dialect: Dialect): ReceivedRequest => (dialect === openai ? open : claude).requests.at(-1)!

  /** The call went where the table says, with the credential that it says, and nobody else was asked. */
  function expectOwnPlace(dialect: Dialect): void {
    const { path, headers } = last(dialect)
    expect(path).to.equal(dialect.path)
    expect(headers[dialect === openai ? 'authorization' : 'x-api-key']).to.match(new RegExp(`^(?:Bearer )?${dialect.apiKey}$`))
    expect(elsewhere.connectionsAccepted).to.equal(0)
  }

  for (const dialect of [openai, anthropic]) {
    for (const [where, wrap] of [
      ['of a request', (lie: object) => lie],
      ['of its user_config', (lie: object) => ({ user_config: { model_list: [{ litellm_params: lie }] } })],
      ['of its extra_body', (lie: object) => ({ extra_body: lie, extra_headers: lie, litellm_params: lie })],
      ['of its metadata', (lie: object) => ({ metadata: { config: JSON.stringify(lie) } })],
      ['of a message', (lie: object) => ({ messages: [{ role: 'user', content: 'Hi', ...lie }] })],
      ['of a tool', (lie: object) => ({ tools: [{ type: 'function', function: { name: 'f', ...lie }, ...lie }] })],
    ] as const) {
      it(`cannot be set by a member ${where} (${dialect.name})`, async () => {
        const credential = { api_key: 'sk-foreign', apiKey: 'sk-foreign', organization: 'foreign', api_version: '1' }
        const lie = { ...Object.fromEntries(NAMES.map((name) => [name, elsewhere.origin])), ...credential }
        const before = open.requests.length
        const reply = await gateway.fetch('/v1/chat/completions', { json: { ...ask(dialect), ...wrap(lie) } })
        if (dialect === openai && REFUSED.has(where)) {
          expect([reply.status, open.requests.length]).to.deep.equal([400, before])
          expect(elsewhere.connectionsAccepted).to.equal(0)
        } else {
          expect(reply.status).to.equal(200)
          expectOwnPlace(dialect)
        }
      })
    }

    it(`cannot be set by a header or the query (${dialect.name})`, async () => {
      const headers = Object.fromEntries(HEADERS.map((name) => [name, elsewhere.origin]))
      const query = NAMES.map((name) => `${name}=${encodeURIComponent(elsewhere.origin)}`).join('&')
      const reply = await gateway.fetch(`/v1/chat/completions?${query}`, { json: ask(dialect), headers })
      expect(reply.status).to.equal(200)
      expectOwnPlace(dialect)
    })

    for (const model of [
      '../../elsewhere',
      'x?y=z',
      'x#y',
      '//elsewhere/v1',
      'http://elsewhere/v1',
      '%2e%2e%2f',
      '..',
      '@elsewhere',
    ]) {
      it(`cannot be changed by the model name ${model} (${dialect.name})`, async () => {
        const reply = await gateway.fetch('/v1/chat/completions', {
          json: { ...ask(dialect), model: `${dialect.namespace}/${model}` },
        })
        expect(reply.status).to.equal(200)
        expectOwnPlace(dialect)
        expect(last(dialect).json()).to.include({ model })
      })
    }
  }
})
