import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { onSqlite } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ApiClient } from './api-client.ts'
import { type Fixture, startFixture } from './fixture.ts'

const chain = (...classes: object[]) => ({
  chain: [{ plugin: 'auth' }, ...classes.map((config) => ({ plugin: 'rate-tagging', config }))],
  namespaces: { sandbox: { provider: 'sandbox' } },
})

/** The declared rate classes. */
async function rateClasses(gateway: TestGateway): Promise<unknown> {
  const program = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
  return (await program.get('/config')).body.rate_classes
}

onSqlite('the management API', (database) => {
  let fixture: Fixture
  before(async () => {
    fixture = await startFixture(await database())
  })
  after(() => fixture?.stop())

  it('shows a member the models of their account, and why some are not available', async () => {
    const models = async () => (await fixture.member.get('/models')).body.data
    const free = { name: 'sandbox', input_usd: '0.00', output_usd: '0.00' }
    const smart = {
      id: 'acme/smart',
      namespace: 'acme',
      owned_by: 'acme',
      curated: true,
      price: null,
      priced: true,
      available: true,
    }
    const hello = {
      id: 'sandbox/hello',
      namespace: 'sandbox',
      owned_by: 'sandbox',
      curated: false,
      price: free,
      priced: true,
      available: true,
    }
    expect(await models()).to.deep.equal([smart, hello])
    await fixture.admin.patch(`/accounts/${fixture.account}`, { models: ['openai/*'] })
    expect(await models()).to.deep.equal([
      {
        id: 'openai/gpt-5.5',
        namespace: 'openai',
        owned_by: 'openai',
        curated: false,
        price: null,
        priced: false,
        available: false,
        why: 'OPENAI_API_KEY is not set',
      },
    ])
  })

  it('shows an admin the routing table, and the state of its targets', async () => {
    const { body } = await fixture.admin.get('/routes')
    expect(body.aliases).to.deep.equal([{ name: 'gpt-4o', to: 'acme/smart' }])
    expect(body.namespaces).to.deep.equal([
      {
        name: 'acme',
        provider: null,
        line: 8,
        routes: [
          {
            name: 'smart',
            line: 10,
            targets: [
              { model: 'sandbox/hello', weight: 3, share: 0.75, health: 'closed' },
              { model: 'openai/gpt-5.5', weight: 1, share: 0.25 },
            ],
            fallbacks: [{ model: 'spare/hello', weight: 1, health: 'closed' }],
          },
        ],
      },
      { name: 'sandbox', provider: 'sandbox', models: ['hello'], line: 5, routes: [] },
      { name: 'spare', provider: 'sandbox', models: ['hello'], line: 6, routes: [] },
      {
        name: 'openai',
        provider: 'openai-compatible',
        dormant: 'OPENAI_API_KEY is not set',
        models: ['gpt-5.5'],
        line: 7,
        routes: [],
      },
    ])
  })

  it('shows an admin the routes.yaml in use, and the errors of a failed reload', async () => {
    const { body: before } = await fixture.admin.get('/config')
    expect(before).to.include({ file: 'routes.yaml', last_reload: null })
    expect(before.text)
      .to.include('gpt-4o: acme/smart')
      .and.include('$' + '{env:OPENAI_API_KEY}')
    expect(before.sha256).to.match(/^[0-9a-f]{64}$/)
    await writeFile(join(fixture.gateway.folder, 'routes.yaml'), 'version: 2\n')
    await fetch(`${fixture.gateway.url}/-/reload`, {
      method: 'POST',
      headers: { authorization: `Bearer ${fixture.adminKey}`, 'content-type': 'application/json' },
      body: '{}',
    })
    const { body: after } = await fixture.admin.get('/config')
    expect(after).to.include({ text: before.text, sha256: before.sha256, loaded_at: before.loaded_at })
    const reload = after.last_reload as { ok: boolean; diagnostics: readonly object[] }
    expect(reload.ok).to.equal(false)
    expect(reload.diagnostics[0]).to.include({ line: 1 }).and.have.keys('line', 'column', 'message')
    const { file, sha256, loaded_at, rate_classes, last_reload } = after
    expect((await fixture.admin.get('/config/state')).body, 'what can be asked for often').to.deep.equal({
      ...{ file, sha256, loaded_at, rate_classes },
      last_reload: { at: (last_reload as { readonly at: string }).at, ok: false },
    })
  })

  it('shows an admin the rate classes of all plugins of the routes.yaml in use', async () => {
    const [standard, batch] = [{ requests: '60/min' }, { tokens: '5M/day' }]
    const gateway = await startTestGateway({
      routes: chain(
        { classes: { standard, batch }, default: 'standard' },
        { classes: { standard, night: batch }, default: 'night' },
      ),
    })
    expect(await rateClasses(gateway)).to.deep.equal(['standard', 'batch', 'night'])
    const text = stringify({ version: 1, ...chain({ classes: { day: batch }, default: 'day' }) })
    await writeFile(join(gateway.folder, 'routes.yaml'), text)
    await gateway.reload()
    expect(await rateClasses(gateway)).to.deep.equal(['day'])
    await gateway.stop()
    // A key of this routes.yaml has a class, but no plugin declares any.
    expect(await rateClasses(fixture.gateway)).to.deep.equal([])
  })
})
