import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { parse } from 'yaml'
import { CONTRACT_VIOLATIONS } from '../../../core/plugins/faults.ts'
import { EVERY_CALL, hold, json, runLink, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { DOCUMENTED_FILES, ROOT, run } from '../../plugins/kit/author.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { readText } from '../../support/sources.ts'
import { ask, completion, hello, stream } from './openai-wire.ts'

const DOCS = readText('docs/plugins.md')

describe('docs/plugins.md', () => {
  let folder: string

  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-docs-'))
    for (const [name, code] of Object.entries(DOCUMENTED_FILES)) await writeFile(join(folder, name), code)
    await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
    // What npm would install.
    await mkdir(join(folder, 'node_modules/@types'), { recursive: true })
    await symlink(ROOT, join(folder, 'node_modules/unified-model-gateway'))
    await symlink(join(ROOT, 'node_modules/@types/node'), join(folder, 'node_modules/@types/node'))
  })

  after(() => rm(folder, { recursive: true, force: true }))

  it('names the file of every TypeScript block', () => {
    expect(DOCS.match(/^```ts$/gm)).to.have.length(Object.keys(DOCUMENTED_FILES).length)
  })

  it('has passing tests', async () => {
    const tests = Object.keys(DOCUMENTED_FILES).filter((name) => name.endsWith('.test.ts'))
    const args = ['--test', ...tests.map((name) => join(folder, name))]
    const stdout = await run(process.execPath, args).catch((error) => error.stdout)
    expect(stdout)
      .to.match(new RegExp(`pass ${7 + Object.keys(EVERY_CALL).length}\n`))
      .and.to.match(/fail 0\n/)
  })

  it('documents every option of describeProvider', () => {
    const source = readText('core/testing/conformance/provider-under-test.ts')
    const [, body] = /^export interface ProviderUnderTest \{$([\s\S]*?)^\}/m.exec(source)!
    const members = Array.from(body!.matchAll(/^ {2}(?:readonly )?(\w+)\??[:(]/gm), ([, name]) => name!)
    const [, section] = /^### A whole provider$([\s\S]*?)^## /m.exec(DOCS)!
    expect(members.filter((name) => !section!.includes(`\`${name}`))).to.deep.equal([])
  })

  it('has a line decoder that works for any split', async () => {
    const decoder = (await import(join(folder, 'lines.ts'))).lineDecoder()
    const bytes = Buffer.from('ä\n\nbc\n')
    const events = [...bytes].flatMap((byte) => decoder.push(Buffer.of(byte)))
    expect(events.map(({ data }: { data: string }) => data)).to.deep.equal(['ä', '', 'bc'])
    expect(decoder.end()).to.deep.equal([])
    decoder.push(Buffer.from('half'))
    expect(() => decoder.end()).to.throw('not complete')
  })

  it('lists the contract violations of the log', () => {
    const listed = Array.from(DOCS.matchAll(/^\| `([A-Z_]+)` +\| (.*?) +\|$/gm), ([, code, text]) => [code, text])
    expect(listed).to.deep.equal(Object.entries(CONTRACT_VIOLATIONS))
  })

  it('lists the members of `ctx.state`, the host and a provider', () => {
    const api = ['call', 'host', 'plugin'].map((name) => readText(`core/sdk/${name}.ts`)).join('')
    for (const name of ['CallState', 'Host', 'Provider']) {
      const body = new RegExp(`^export interface ${name} \\{([\\s\\S]*?)^\\}`, 'm').exec(api)![1]!
      for (const [, member] of body.matchAll(/^ {2}(?:readonly )?(\w+)\??[(:]/gm)) {
        expect(DOCS, `${name}.${member}`).to.match(new RegExp(`^\\| \`${member}\\b`, 'm'))
      }
    }
  })

  for (const [name, config] of Object.entries({
    'slow-calls': { limit: 1 },
    timing: {},
    'house-rules': { mostTokens: 100 },
    mask: { word: 'secret' },
    memory: {},
    'fair-share': { calls: 1 },
  }))
    it(`has a link that serves calls of every kind: ${name}`, async () => {
      const { default: plugin } = await import(join(folder, `${name}.ts`))
      for (const [title, call] of Object.entries(EVERY_CALL)) {
        const { client } = await runLink(plugin, { config, ...call })
        expect(client.status, `${title}: ${client.text}`).to.equal(200)
      }
    }).timeout(30_000)

  describe('has working plugins:', () => {
    let upstream: ScriptedUpstream
    let gateway: TestGateway | undefined

    before(async () => {
      upstream = await scriptedUpstream()
      upstream.on(hello)
    })

    afterEach(() => gateway?.stop())

    after(() => upstream?.close())

    /** A gateway with one of the page's files behind auth, and its provider. */
    async function start(plugin: string, config?: object): Promise<TestGateway> {
      gateway = await startTestGateway({
        routes: {
          chain: [{ plugin: 'auth' }, { plugin: `./${plugin}.ts`, ...(config && { config }) }],
          namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
        },
        files: DOCUMENTED_FILES,
      })
      return gateway
    }

    const call = async (body: object = {}, headers: Record<string, string> = {}) => {
      const reply = await gateway!.fetch('/v1/chat/completions', { json: ask(body), headers })
      return { status: reply.status, headers: Object.fromEntries(reply.headers), text: await reply.text() }
    }

    it('slow-calls, with the configuration on the page', async () => {
      const [, yaml] = /```yaml\n(chain:[\s\S]*?)```/.exec(DOCS)!
      const { chain } = parse(yaml!)
      const [, link] = chain
      expect(link).to.deep.equal({ plugin: './slow-calls.ts', config: { limit: 3000 } })
      const { logged } = await start('slow-calls', { limit: 1 })
      const stalled = hold()
      upstream.reply([stalled, ...json(completion())])
      const slow = call()
      await stalled.reached
      const since = performance.now()
      while (performance.now() - since < 2) await turn()
      stalled.release()
      await slow
      expect(await logged(({ msg }) => msg === 'a slow call')).to.include({ plugin: 'slow-calls', level: 'warn' })
    })

    it('timing', async () => {
      await start('timing')
      expect((await call()).headers).to.include({ 'x-served-by': 'up', 'x-attempts': 'ok' })
      upstream.reply(json({}, { status: 500 }))
      expect((await call()).headers).to.include({ 'x-served-by': 'nobody', 'x-failure': 'upstream_error' })
    })

    it('from-proxy', async () => {
      gateway = await startTestGateway({
        routes: {
          chain: [{ plugin: './from-proxy.ts' }],
          namespaces: { up: { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } } },
        },
        files: DOCUMENTED_FILES,
      })
      expect(await call({}, { 'x-user': 'ada' })).to.have.property('status', 200)
      expect(await call()).to.have.property('status', 401)
    })

    it('house-rules', async () => {
      const { fetch } = await start('house-rules', { mostTokens: 100 })
      const received = upstream.reply(json(completion()))
      await call()
      expect((await received).json()).to.have.property('max_tokens', 100)
      const refused = await call({ max_tokens: 101 })
      expect(refused.status).to.equal(403)
      expect(refused.text).to.contain('Ask for at most 100 tokens.')
      expect(await fetch('/v1/models')).to.have.property('status', 200)
    })

    it('mask', async () => {
      await start('mask', { word: 'secret' })
      upstream.reply(json(completion('A secret.')))
      expect((await call()).text).to.contain('A ….')
      upstream.reply(stream('Room ', '101'))
      expect((await call({ stream: true })).text).to.contain('"###"')
    })

    it('memory', async () => {
      await start('memory')
      for (const streamed of [false, true]) {
        const first = await call({ stream: streamed })
        const asked = upstream.requests.length
        const second = await call({ stream: streamed })
        expect(second.text).to.equal(first.text)
        expect(upstream.requests).to.have.length(asked)
      }
    })

    it('fair-share', async () => {
      const { metric } = await start('fair-share', { calls: 1 })
      const stalled = hold()
      upstream.reply([stalled, ...json(completion())])
      const first = call()
      await stalled.reached
      expect(await call()).to.have.property('status', 403)
      stalled.release()
      expect(await first).to.have.property('status', 200)
      expect(await metric('fair_share_refused_total')).to.equal(1)
    })

    /** A gateway with one of the page's providers, in this namespace. */
    async function serve(namespace: string, plugin: string): Promise<TestGateway> {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of routes.yaml
      const config = { baseUrl: upstream.origin, token: '${env:TOKEN}' }
      const routes = { chain: [{ plugin: 'auth' }], namespaces: { [namespace]: { provider: `./${plugin}.ts`, config } } }
      gateway = await startTestGateway({ routes, env: { TOKEN: 'hush' }, files: DOCUMENTED_FILES })
      return gateway
    }

    it('haiku', async () => {
      const gateway = await serve('poets', 'haiku')
      const prompt = { model: 'poets/basho', messages: [{ role: 'user' as const, content: 'Ponds' }] }
      const received = upstream.reply(json({ text: 'Splash', ended: 'breath', words: { heard: 1, said: 1 } }))
      const { choices } = await gateway.openai().chat.completions.create(prompt)
      expect(choices[0]).to.deep.include({ finish_reason: 'length' })
      const request = await received
      expect(request.headers).to.have.property('authorization', 'Token hush')
      expect(request.json()).to.deep.equal({ topic: 'Ponds', words: 17, live: false })
      upstream.reply(sse([{ text: 'Spl' }, { text: 'ash' }, { ended: 'bow' }]))
      expect(await gateway.openai().chat.completions.stream(prompt).finalContent()).to.equal('Splash')
      upstream.reply(json(['basho', 'issa']))
      const models = await Array.fromAsync(gateway.openai().models.list())
      expect(models.map(({ id }) => id)).to.deep.equal(['poets/basho', 'poets/issa'])
    })

    it('atlas', async () => {
      const gateway = await serve('maps', 'atlas')
      const received = upstream.reply(json({ places: [{ at: [0.5, 1] }], words: 2 }))
      const { data, usage } = await gateway
        .openai()
        .embeddings.create({ model: 'maps/world', input: ['Old pond'], dimensions: 2 })
      expect([data[0]!.embedding, usage.prompt_tokens]).to.deep.equal([[0.5, 1], 2])
      expect((await received).json()).to.deep.equal({ texts: ['Old pond'], axes: 2 })
      const chat = await gateway.fetch('/v1/chat/completions', { json: { ...ask(), model: 'maps/world' } })
      expect([chat.status, await chat.text()].join()).to.match(/^400,.*"unsupported_endpoint"/)
    })
  })
})
