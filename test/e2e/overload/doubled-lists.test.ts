// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { join } from 'node:path'
import { expect } from 'chai'
import { stringify } from 'yaml'
import { json, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { BlockCounter, repeat } from '../../support/block-counter.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { onGoogleCloud } from '../clients/fixture.ts'
import { ApiClient } from '../management/api-client.ts'
import { reloadAfter, replaceFile } from '../reload/reloading.ts'
import { AS_SHIPPED } from '../vendors/as-shipped.ts'

const named = <Value>(count: number, prefix: string, entryOf: (index: number) => Value): Readonly<Record<string, Value>> =>
  Object.fromEntries(repeat(count, (i) => [`${prefix}${i}`, entryOf(i)]))

const sandbox = { provider: 'sandbox' }
const upstream = { provider: 'openai-compatible', config: { baseUrl: 'http://127.0.0.1:9/v1' } }
const globs = (count: number): string[] => repeat(count, (i) => `sandbox/m-${i}*`).concat('sandbox/hello')
const declaredKey = (i: number, more: object = {}) => ({
  name: `key-${i}`,
  hash: `sha256:${digestOf(`sk-live-${i}`)}`,
  kind: 'live',
  models: ['*'],
  ...more,
})
const limited = (classes: object, more: object = {}) => [
  { plugin: 'auth' },
  { plugin: 'rate-tagging', config: { classes: { all: {}, ...classes }, default: 'all', ...more } },
]

/** What grows in a routes.yaml. */
const TABLES: Readonly<Record<string, (count: number) => Readonly<Record<string, object>>>> = {
  namespaces: (n) => ({ namespaces: { sandbox, ...named(n, 'ns-', () => sandbox) } }),
  'namespaces with models and keys': (n) => ({
    namespaces: {
      sandbox,
      ...named(n, 'ns-', (i) => ({
        ...upstream,
        models: [`m-${i}`],
        config: { ...upstream.config, apiKey: `\${env:KEY_${i}}` },
      })),
    },
  }),
  'allowed models of a namespace': (n) => ({
    namespaces: { sandbox: { ...sandbox, models: ['hello', ...repeat(n, (i) => `m-${i}`)] } },
  }),
  'globs of a namespace': (n) => ({
    namespaces: { sandbox: { ...sandbox, models: ['hello', ...repeat(n, (i) => `m-${i}-*`)] } },
  }),
  'curated models': (n) => ({
    namespaces: {
      sandbox,
      acme: { models: named(n, 'm-', () => ({ targets: [{ model: 'sandbox/hello' }], fallbacks: ['sandbox/echo'] })) },
    },
  }),
  'targets of a curated model': (n) => ({
    namespaces: {
      sandbox,
      acme: { models: { smart: { targets: repeat(n, (i) => ({ model: `sandbox/m-${i}`, weight: i + 1 })) } } },
    },
  }),
  'fallbacks of a curated model': (n) => ({
    namespaces: {
      sandbox,
      acme: { models: { smart: { targets: [{ model: 'sandbox/hello' }], fallbacks: repeat(n, (i) => `sandbox/m-${i}`) } } },
    },
  }),
  'curated models within a curated model': (n) => ({
    namespaces: {
      sandbox,
      acme: {
        models: {
          smart: { targets: repeat(n, (i) => ({ model: `acme/m-${i}` })) },
          ...named(n, 'm-', (i) => ({ targets: [{ model: `sandbox/m-${i}` }], fallbacks: ['sandbox/hello'] })),
        },
      },
    },
  }),
  aliases: (n) => ({ aliases: named(n, 'alias-', () => 'sandbox/hello') }),
  accounts: (n) => ({
    accounts: named(n, 'account-', () => ({ models: ['*'] })),
    keys: repeat(n, (i) => declaredKey(i, { account: `account-${i}` })),
  }),
  'keys of an account': (n) => ({
    accounts: { one: { models: ['*'] } },
    keys: repeat(n, (i) => declaredKey(i, { account: 'one' })),
  }),
  'allowed models of a key': (n) => ({ keys: [declaredKey(0, { models: globs(n) })] }),
  'allowed models of an account': (n) => ({
    accounts: { one: { models: globs(n) } },
    keys: [declaredKey(0, { account: 'one' })],
  }),
  'keys with tags': (n) => ({ keys: repeat(n, (i) => declaredKey(i, { tags: { team: `team-${i}` } })) }),
  'keys with budgets': (n) => ({ keys: repeat(n, (i) => declaredKey(i, { budget: ['1 USD/day', '5 USD/month'] })) }),
  'keys with rate classes': (n) => ({
    chain: limited(named(n, 'class-', () => ({ requests: '100/min', tokens: '1M/day' }))),
    keys: repeat(n, (i) => declaredKey(i, { class: `class-${i}` })),
  }),
  links: (n) => ({
    chain: [
      { plugin: 'auth' },
      ...repeat(n, (i) => ({ plugin: 'header-stamping', config: { response: { [`x-own-${i}`]: 'on' } } })),
    ],
  }),
  'links with conditions': (n) => ({
    chain: [
      { plugin: 'auth' },
      ...repeat(n, (i) => ({
        plugin: 'header-stamping',
        when: { namespaces: ['sandbox'] },
        config: { response: { [`x-own-${i}`]: 'on' } },
      })),
    ],
  }),
  'namespaces of a condition': (n) => ({
    namespaces: { sandbox, ...named(n, 'ns-', () => sandbox) },
    chain: [
      { plugin: 'auth' },
      {
        plugin: 'header-stamping',
        when: { namespaces: ['sandbox', ...repeat(n, (i) => `ns-${i}`)] },
        config: { response: { 'x-own': 'on' } },
      },
    ],
  }),
  'headers of a link': (n) => ({
    chain: [{ plugin: 'auth' }, { plugin: 'header-stamping', config: { response: named(n, 'x-own-', () => '{served_model}') } }],
  }),
  // Of prices by globs each pair is compared when the file is loaded, for the message that one hides another.
  prices: (n) => ({
    namespaces: { sandbox, upstream },
    prices: { models: named(n, 'upstream/m-', () => ({ input: 1, output: 2 })) },
  }),
  expectations: (n) => ({ expect: named(n, 'sandbox/m-', () => [{ to: 'sandbox/hello' }]) }),
  credentials: (n) => ({
    namespaces: {
      sandbox,
      open: {
        provider: 'openai-compatible',
        config: { baseUrl: 'http://127.0.0.1:9/v1' },
        credentials: named(n, 'c-', (i) => ({ apiKey: `\${env:KEY_${i}}` })),
      },
    },
  }),
  'addresses of a namespace': (n) => ({
    namespaces: { sandbox: { ...sandbox, addresses: repeat(n, (i) => `https://pictures-${i}.internal/*`) } },
  }),
  'hosted tools of a namespace': (n) => ({ namespaces: { sandbox: { ...sandbox, hostedTools: repeat(n, (i) => `tool_${i}`) } } }),
}

/** Keys, and how many of the discovered models they see. */
const SEEN: Readonly<Record<string, { readonly models: readonly string[]; readonly isAll: boolean }>> = {
  'may call': { models: ['*'], isAll: true },
  'may not call': { models: ['sandbox/*'], isAll: false },
}

/** Lists of one model each as one list: their members that are lists are joined. */
const joined = (lists: readonly object[]): object =>
  Object.fromEntries(
    Object.entries(lists[0] ?? {}).map(([member, value]) => [
      member,
      Array.isArray(value) ? lists.flatMap((list) => list[member as keyof typeof list]) : value,
    ]),
  )

describe('twice as much in a list', () => {
  const blocks = new BlockCounter()
  let upstreams: ScriptedUpstream
  let google: ScriptedUpstream
  let leaveGoogle: () => void
  let gateway: TestGateway
  let admin: ApiClient
  /** May call none of the models. */
  let narrow: string

  const tableOf = (parts: Readonly<Record<string, object>>): string =>
    stringify({ version: 1, chain: [{ plugin: 'auth' }], namespaces: { sandbox }, ...parts })

  async function load(parts: Readonly<Record<string, object>>): Promise<void> {
    // The watch of the file would load it a second time beside a reload on request.
    const { ok, diagnostics } = await reloadAfter(gateway, () => replaceFile(join(gateway.folder, 'routes.yaml'), tableOf(parts)))
    expect(ok, diagnostics).to.equal(true)
  }

  before(async () => {
    upstreams = await scriptedUpstream()
    // Its address says whose list it is, and of how many models.
    upstreams.on(({ path }) => {
      const [, name, count, ...rest] = path.split('/')
      const { list, model = 'model' } = AS_SHIPPED.find((row) => row.name === name)!
      return json(joined(repeat(Number(count), (i) => list!(`${model}-${i}`, `/${rest.join('/')}`))))
    })
    google = await scriptedUpstream()
    leaveGoogle = onGoogleCloud(google)
    gateway = await startTestGateway({
      routes: tableOf({}),
      env: Object.fromEntries(repeat(200, (i) => [`KEY_${i}`, `k${i}`]).concat([['KEY', 'k']])),
    })
    admin = new ApiClient(gateway.url, await gateway.key({ kind: 'admin' }))
    narrow = await gateway.key({ models: ['other/*'] })
    await blocks.start()
  })
  after(async () => {
    blocks.stop()
    await gateway?.stop()
    leaveGoogle?.()
    await google?.close()
    await upstreams?.close()
  })

  for (const [what, partsOf] of Object.entries(TABLES))
    it(`of ${what}, costs twice as much to load, to show, and in a call`, () =>
      blocks.expectLinear(async (count) => {
        await load(partsOf(count))
        for (const path of ['routes', 'models', 'config', 'keys', 'accounts']) {
          const { status, body } = await admin.get(`/${path}`)
          expect(status, JSON.stringify(body)).to.equal(200)
        }
        for (const path of ['/v1/models', '/v1/models/sandbox/hello']) expect((await gateway.fetch(path)).status).to.equal(200)
        expect(await (await gateway.fetch('/v1/models', { key: narrow })).json()).to.deep.equal({ object: 'list', data: [] })
        const model =
          what.endsWith('of a curated model') || what.endsWith('within a curated model') ? 'acme/smart' : 'sandbox/hello'
        const reply = await gateway.fetch('/v1/chat/completions', {
          json: { model, messages: [{ role: 'user', content: 'Hi' }] },
        })
        const text = await reply.text()
        expect(reply.status, text).to.equal(200)
        // What the next table is compared with.
        await load({})
      }))

  for (const { name, provider, speaks } of AS_SHIPPED.filter(
    (row) => row.list !== undefined && !/^preset-(?!openai$)/.test(row.name),
  ))
    for (const [who, { models, isAll }] of Object.entries(SEEN))
      it(`of models of ${name} costs a key twice as much that ${who} them`, async () => {
        const key = await gateway.key({ models })
        await blocks.expectLinear(async (count) => {
          await load({
            namespaces: { sandbox, vendor: { provider, config: speaks.config(`${upstreams.origin}/${name}/${count}`) } },
          })
          const { data } = (await (await gateway.fetch('/v1/models', { key })).json()) as { data: readonly { id: string }[] }
          expect(data.filter(({ id }) => id.startsWith('vendor/'))).to.have.lengthOf(isAll ? count : 0)
          await load({})
        })
      })
})
