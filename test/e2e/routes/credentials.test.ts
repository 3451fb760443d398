// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient } from '../management/api-client.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { ask } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'

const OPS = 'sk-live-irZTVfCwhKeI4iywS5HQG4whmyW55h0ds29Q'
const ENV = { KEY_A: 'key-of-a', KEY_B: 'key-of-b', KEY_C: 'key-of-c' }
const credentials = { a: { apiKey: '${env:KEY_A}' }, b: { apiKey: '${env:KEY_B}' }, c: { apiKey: '${env:KEY_C}' } }

describe('Several credentials of a namespace', () => {
  let upstream: ScriptedUpstream
  let spare: ScriptedUpstream
  let gateway: TestGateway
  /** The credentials that the upstream was shown, by their names. */
  let shown: string[]
  /** How the upstream refuses a credential: by its status and headers. */
  let refused: Map<string, { readonly status: number; readonly headers?: Record<string, string> }>

  beforeEach(async () => {
    shown = []
    refused = new Map()
    upstream = await scriptedUpstream()
    spare = await scriptedUpstream()
    spare.on(() => json(openai.whole({ text: ['spare'] })))
    upstream.on(({ path, headers, json: body }) => {
      const name = String(headers.authorization ?? headers['x-api-key']).slice(-1)
      const refusal = refused.get(name)
      if (path.includes('/models')) return refusal ? json({}, refusal) : json({ data: [{ id: 'listed' }] })
      shown.push(name)
      const dialect = path.endsWith('/messages') ? anthropic : openai
      if (refusal !== undefined) return json(dialect.error(refusal.status, 'No.'), refusal)
      const { stream } = body() as { readonly stream?: boolean }
      return stream ? sse(dialect.events({ text: ['Hi'] })) : json(dialect.whole({ text: ['Hi'] }))
    })
    gateway = await startTestGateway({
      env: ENV,
      routes: {
        chain: [{ plugin: 'auth' }, { plugin: 'header-stamping' }, { plugin: 'explain', config: { keys: ['routes:ops'] } }],
        namespaces: {
          pool: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` }, credentials },
          claude: { provider: 'anthropic', config: { baseUrl: upstream.origin }, credentials },
          spare: { provider: 'openai-compatible', config: { baseUrl: `${spare.origin}/v1` } },
          acme: {
            models: { smart: { targets: [{ model: 'pool/m' }], fallbacks: ['spare/m'], retry: { attempts: 2 } } },
          },
        },
        keys: [{ name: 'ops', kind: 'live', hash: `sha256:${digestOf(OPS)}`, models: ['*'] }],
      },
    })
  })

  afterEach(async () => {
    await gateway?.stop()
    await Promise.all([upstream?.close(), spare?.close()])
  })

  async function call(model: string, more: { readonly stream?: boolean } = {}) {
    const body = { ...ask(openai, more), model }
    const reply = await gateway.fetch('/v1/chat/completions', { json: body, key: OPS, headers: { 'x-umg-explain': '1' } })
    return { status: reply.status, headers: reply.headers, text: await reply.text() }
  }

  const lineOf = ({ headers }: { readonly headers: Headers }) =>
    gateway.logged(({ id, endpoint }) => id === headers.get('x-request-id') && endpoint !== undefined)

  it('serve the calls by turns', async () => {
    for (let count = 0; count < 6; count++) expect((await call('pool/m')).status).to.equal(200)
    expect(shown).to.deep.equal(['a', 'b', 'c', 'a', 'b', 'c'])
  })

  it('serve the calls by turns at a provider with another header', async () => {
    for (let count = 0; count < 4; count++) expect((await call('claude/m')).status).to.equal(200)
    expect(shown).to.deep.equal(['a', 'b', 'c', 'a'])
  })

  it('replace one that the upstream refuses with 401, in the same call, and leave it alone for a minute', async () => {
    refused.set('a', { status: 401 })
    expect((await call('pool/m')).status).to.equal(200)
    for (let count = 0; count < 4; count++) await call('pool/m')
    expect(shown).to.deep.equal(['a', 'b', 'c', 'b', 'c', 'b'])
    expect(await gateway.metric('umg_credential_cooldown_seconds', { namespace: 'pool', credential: 'a' })).to.be.within(50, 60)
    expect(await gateway.metric('umg_credential_cooldown_seconds', { namespace: 'pool', credential: 'b' })).to.equal(0)
  })

  it('spare the target: no breaker counts the refusal, and it is not cooling down', async () => {
    refused.set('a', { status: 401 })
    for (let count = 0; count < 12; count++) await call('acme/smart')
    expect(spare.requests).to.have.lengthOf(0)
    expect(await gateway.metric('umg_circuit_state', { namespace: 'pool', model: 'm', state: 'closed' })).to.equal(1)
    expect(await gateway.metric('umg_target_cooldown_seconds', { namespace: 'pool', model: 'm' })).to.equal(0)
    const text = await (await gateway.fetch('/readyz?verbose')).text()
    expect(text).to.match(/^\[\+\] pool\/m: closed, .*credential a cooling down for \d+ s$/m)
  })

  it('cool down for as long as the upstream asks with 429', async () => {
    refused.set('b', { status: 429, headers: { 'retry-after': '20' } })
    for (let count = 0; count < 3; count++) expect((await call('pool/m')).status).to.equal(200)
    expect(shown).to.deep.equal(['a', 'b', 'c', 'a'])
    expect(await gateway.metric('umg_credential_cooldown_seconds', { namespace: 'pool', credential: 'b' })).to.be.within(10, 20)
  })

  it('replace a refused one in a stream', async () => {
    refused.set('a', { status: 429 })
    const { status, text } = await call('pool/m', { stream: true })
    expect(status).to.equal(200)
    expect(text).to.include('[DONE]')
    expect(shown).to.deep.equal(['a', 'b'])
  })

  it('fail the call with the last refusal when all are refused, and are tried all the same', async () => {
    for (const name of ['a', 'b', 'c']) refused.set(name, { status: 429, headers: { 'retry-after': '20' } })
    const { status, headers, text } = await call('pool/m')
    expect(status, text).to.equal(429)
    expect(headers.get('retry-after')).to.equal('20')
    expect(shown).to.deep.equal(['a', 'b', 'c'])
    expect((await call('pool/m')).status).to.equal(429)
    expect(shown).to.have.lengthOf(4)
  })

  it('let the next target serve the call when all are refused, and the target cool down', async () => {
    for (const name of ['a', 'b', 'c']) refused.set(name, { status: 401 })
    const { status, headers } = await call('acme/smart')
    expect(status).to.equal(200)
    expect(headers.get('x-umg-namespace')).to.equal('spare')
    expect(shown).to.deep.equal(['a', 'b', 'c'])
    expect(await gateway.metric('umg_target_cooldown_seconds', { namespace: 'pool', model: 'm' })).to.be.within(50, 60)
    const next = await call('acme/smart')
    expect(next.headers.get('x-umg-namespace')).to.equal('spare')
    expect(next.headers.get('x-umg-skipped')).to.equal('pool/m cooling_down')
    expect(await gateway.metric('umg_targets_skipped_total', { namespace: 'pool', reason: 'cooling_down' })).to.equal(1)
    expect(shown).to.have.lengthOf(3)
  })

  it('are named in log, row, metrics and explanation, never shown', async () => {
    refused.set('a', { status: 401 })
    const reply = await call('pool/m')
    expect(reply.headers.get('x-umg-attempt-results')).to.match(
      /^pool\/m \(a\) upstream_authentication_error \d+ms, pool\/m \(b\) ok \d+ms$/,
    )
    const line = await lineOf(reply)
    expect(line.credential).to.equal('b')
    expect(line.attempts).to.deep.include({ ...(line.attempts as object[])[0], credential: 'a' })
    const program = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
    const { body: row } = await program.get(`/requests/${reply.headers.get('x-request-id')}`)
    expect(row.served).to.deep.equal({ namespace: 'pool', model: 'm', provider: 'openai-compatible', credential: 'b' })
    expect((row.attempts as { credential: string }[]).map(({ credential }) => credential)).to.deep.equal(['a', 'b'])
    const { body: table } = await program.get('/routes')
    const pool = (table.namespaces as Record<string, unknown>[]).find(({ name }) => name === 'pool')
    const [a, ...others] = pool!.credentials as { name: string; cooldown_seconds: number }[]
    expect(a!.cooldown_seconds).to.be.within(50, 60)
    expect(others).to.deep.equal([
      { name: 'b', cooldown_seconds: 0 },
      { name: 'c', cooldown_seconds: 0 },
    ])
    const counted = (credential: string, result: string) =>
      gateway.metric('umg_credential_attempts_total', { namespace: 'pool', credential, result })
    expect(await counted('a', 'upstream_authentication_error')).to.equal(1)
    expect(await counted('b', 'ok')).to.equal(1)
    const told = JSON.stringify([gateway.log, row, table, Object.fromEntries(reply.headers)])
    expect(`${told}${await gateway.metrics()}`).to.not.match(/key-of-/)
  })

  it('are not named where a namespace has one', async () => {
    const reply = await call('spare/m')
    expect(await lineOf(reply)).to.not.have.property('credential')
    expect(await gateway.metrics()).to.not.match(/credential_\w+\{namespace="spare"/)
  })

  it('list the models of the upstream with one that it takes', async () => {
    refused.set('a', { status: 401 })
    const { data } = (await (await gateway.fetch('/v1/models')).json()) as { readonly data: readonly { readonly id: string }[] }
    expect(data.map(({ id }) => id)).to.include('pool/listed')
  })

  it('go on cooling down after a reload that does not change their namespace', async () => {
    refused.set('a', { status: 401 })
    await call('pool/m')
    const file = join(gateway.folder, 'routes.yaml')
    await writeFile(file, `${await readFile(file, 'utf8')}aliases: { quick: pool/m }\n`)
    expect(await gateway.reload()).to.have.property('ok', true)
    for (let count = 0; count < 4; count++) await call('quick')
    expect(shown).to.deep.equal(['a', 'b', 'c', 'b', 'c', 'b'])
  })
})
