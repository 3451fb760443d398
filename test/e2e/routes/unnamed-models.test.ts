import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { closedOrigin } from '../../support/closed-port.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { openai } from '../sdk/openai-dialect.ts'

describe('Models that routes.yaml does not name', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ body }) => json(body.includes('made-up') ? [] : openai.whole({ text: ['Hi'] })))
    const at = (origin: string) => ({ provider: 'openai-compatible', config: { baseUrl: `${origin}/v1` } })
    gateway = await startTestGateway({
      routes: {
        chain: [{ plugin: 'auth' }],
        namespaces: { vendor: at(upstream.origin), dead: at(await closedOrigin()) },
      },
    })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function codeOf(model: string): Promise<string | null> {
    const reply = await gateway.fetch('/v1/chat/completions', { json: { model, messages: [{ role: 'user', content: 'Hi' }] } })
    const { error } = (await reply.json()) as { readonly error?: { readonly code: string } }
    return error?.code ?? null
  }

  const readyz = async (): Promise<string> => (await gateway.fetch('/readyz?verbose')).text()

  it('are served while other models, which the same account makes up, get invalid replies', async () => {
    for (let count = 0; count < 12; count++) expect(await codeOf(`vendor/made-up-${count}`)).to.equal('upstream_invalid_response')
    expect(await codeOf('vendor/real')).to.equal(null)
  })

  it('each have a breaker of their own', async () => {
    for (let count = 0; count < 5; count++) await codeOf('vendor/made-up')
    expect(await codeOf('vendor/made-up')).to.equal('upstream_overloaded')
    expect(await codeOf('vendor/real')).to.equal(null)
  })

  it('share the breaker of connections, so that an upstream that is down is not asked for each of them', async () => {
    for (let count = 0; count < 5; count++) expect(await codeOf(`dead/m${count}`)).to.equal('upstream_unreachable')
    expect(await codeOf('dead/m5')).to.equal('upstream_overloaded')
    await gateway.logged(({ msg, namespace, model }) => msg === 'circuit open' && namespace === 'dead' && model === '*')
    expect(await gateway.metric('umg_circuit_state', { namespace: 'dead', model: '*', state: 'open' })).to.equal(1)
  })

  it('are one target in /readyz and one in the metrics, however many there are', async () => {
    const lines = (await readyz()).split('\n').filter((line) => line.includes(' vendor/'))
    expect(lines).to.have.lengthOf(1)
    expect(lines[0]).to.match(/ vendor\/\*: /)
    const series = (await gateway.metrics()).split('\n').filter((line) => /^umg_circuit_state\{.*namespace="vendor"/.test(line))
    expect(series).to.have.lengthOf(3)
  })
})
