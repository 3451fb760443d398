import { join } from 'node:path'
import { expect } from 'chai'
import { type Hold, hold, json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { ask, hello, stream } from '../plugins/openai-wire.ts'
import { reloadAfter, replaceFile } from './reloading.ts'

/** A link that logs its creation and its end, and names itself in a header of replies. */
const NUMBERED = `
import { defineChain, Type } from 'unified-model-gateway/plugin'
let created = 0
export default defineChain({
  apiVersion: 1,
  name: 'numbered',
  schema: Type.Object({ label: Type.String() }),
  create({ label }, host) {
    const number = ++created
    host.signal.addEventListener('abort', () => host.log.info({ label }, 'aborted'))
    host.log.info({ label, number }, 'created')
    return {
      async handle(ctx, next) {
        await next()
        ctx.append('x-links', label + number)
      },
      close() {
        host.log.info({ label, number }, 'closed')
      },
    }
  },
})
`

const link = (label: string) => `{ plugin: ./numbered.ts, config: { label: ${label} } }`

const routes = (links: readonly string[], origins: Readonly<Record<string, string>>) => `version: 1
chain: [${['{ plugin: auth }', ...links].join(', ')}]
namespaces:
${Object.entries(origins)
  .map(([name, origin]) => `  ${name}: { provider: openai-compatible, config: { baseUrl: "${origin}/v1" } }`)
  .join('\n')}
`

describe('a reload', () => {
  let old: ScriptedUpstream
  let next: ScriptedUpstream
  let gateway: TestGateway
  let stalled: Hold

  beforeEach(async () => {
    old = await scriptedUpstream()
    next = await scriptedUpstream()
    old.on(hello)
    next.on(hello)
    stalled = hold()
    const text = routes([link('a'), link('b')], { up: old.origin })
    gateway = await startTestGateway({ routes: text, files: { 'numbered.ts': NUMBERED } })
  })

  afterEach(async () => {
    await gateway?.stop()
    await old?.close()
    await next?.close()
  })

  const change = (links: readonly string[], origins: Readonly<Record<string, string>>) =>
    reloadAfter(gateway, () => replaceFile(join(gateway.folder, 'routes.yaml'), routes(links, origins)))

  const call = (model = 'up/m') => gateway.fetch('/v1/chat/completions', { json: ask({ model }) })

  /** The links that a call passes, the innermost first. */
  async function passed(): Promise<string | null> {
    const reply = await call()
    await reply.text()
    return reply.headers.get('x-links')
  }

  const logged = (message: string) =>
    gateway.log.filter(({ msg }) => msg === message).map(({ label, number }) => `${label}${number ?? ''}`)

  const closed = (label: string) => gateway.logged((line) => line.msg === 'closed' && line.label === label)

  it('keeps the route and plugins of an open stream, and closes them after it', async () => {
    old.reply(stream('Hel', stalled, 'lo!'))
    const reply = await gateway.fetch('/v1/chat/completions', { json: ask({ stream: true }) })
    expect(await change([link('a'), link('c')], { other: next.origin })).to.include({ ok: true })

    // New calls use the new table.
    expect((await call()).status).to.equal(404)
    expect((await call('other/m')).status).to.equal(200)
    expect(next.requests).to.have.length(1)
    expect(logged('closed')).to.deep.equal([])
    expect(await gateway.metric('umg_config_generations')).to.equal(2)

    stalled.release()
    expect(await reply.text()).to.match(/"Hel".*"lo!".*\[DONE\]/s)
    await closed('b')
    expect(logged('closed')).to.deep.equal(['b2'])
    expect(await gateway.metric('umg_config_generations')).to.equal(1)
  })

  it('keeps plugins whose config did not change', async () => {
    expect(await passed()).to.equal('b2, a1')
    await change([link('c'), link('a'), link('b')], { up: old.origin, other: next.origin })
    expect(await passed()).to.equal('b2, a1, c3')
    await change([link('b'), link('a')], { up: next.origin })
    expect(await passed()).to.equal('a1, b2')
    await closed('c')
    expect(logged('created')).to.deep.equal(['a1', 'b2', 'c3'])
    expect(logged('closed')).to.deep.equal(['c3'])
    expect(logged('aborted')).to.deep.equal(['c'])
  })

  it('distinguishes two links with the same config', async () => {
    await change([link('a'), link('a'), link('b')], { up: old.origin })
    expect(await passed()).to.equal('b2, a3, a1')
    await change([link('a'), link('b')], { up: old.origin })
    await closed('a')
    expect(logged('closed')).to.deep.equal(['a3'])
    expect(await passed()).to.equal('b2, a1')
  })

  it('closes the plugins of a table that is refused', async () => {
    const { ok, diagnostics } = await change([link('a'), link('c')], { up: 'nowhere' })
    expect(ok).to.equal(false)
    expect(diagnostics).to.contain('routes.yaml:4:').and.contain('baseUrl')
    expect(logged('closed')).to.deep.equal(['c3'])
    expect(await passed()).to.equal('b2, a1')
  })

  it('keeps the state of circuit breakers', async () => {
    old.on(() => json({ error: {} }, { status: 500 }))
    const up = async () => /^\[.\] up\/\*: (\w+)/m.exec(await (await fetch(`${gateway.url}/readyz?verbose`)).text())?.[1]
    while ((await up()) !== 'open') await (await call()).text()
    await change([link('c')], { up: old.origin, other: next.origin })
    expect(await up()).to.be.oneOf(['open', 'half_open'])
    // A refused table does not change it.
    await change([link('c')], { up: next.origin, other: 'nowhere' })
    await change([link('c')], { up: old.origin })
    expect(await up()).to.be.oneOf(['open', 'half_open'])
    // A changed upstream has a new state.
    await change([link('c')], { up: next.origin })
    expect(await up()).to.be.oneOf(['closed', undefined])
    expect(await gateway.metric('umg_circuit_state', { namespace: 'up', state: 'open' })).to.equal(0)
  })

  it('leads to each plugin being closed once at the end of the gateway', async () => {
    await change([link('a'), link('c')], { up: old.origin })
    await gateway.stop()
    expect(logged('created').toSorted()).to.deep.equal(['a1', 'b2', 'c3'])
    expect(logged('closed').toSorted()).to.deep.equal(['a1', 'b2', 'c3'])
  })

  it('updates the position of a link in its log lines', async () => {
    const text = `# moved\n\n${routes([link('a')], { up: old.origin })}`
    await reloadAfter(gateway, () => replaceFile(join(gateway.folder, 'routes.yaml'), text))
    await gateway.stop()
    expect(gateway.log.find(({ msg, label }) => msg === 'closed' && label === 'a')?.at).to.match(/routes\.yaml:4:27$/)
  })
})
