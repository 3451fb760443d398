// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { createHash } from 'node:crypto'
import { rename } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { parse, stringify } from 'yaml'
import { createSecret } from '../../../core/keys/format.ts'
import { json, type RequestHandler, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { PRESETS, type PresetName } from '../../../plugins/providers/openai-compatible/presets.ts'
import { DOCUMENTED_FILES } from '../../plugins/kit/author.ts'
import { selfSigned } from '../../support/certificate.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { tableOf, UNCOMMENTED, YAML_BLOCKS, type YamlBlock } from '../../support/yaml-blocks.ts'
import { Home, type Umg } from '../lifecycle/umg.ts'
import { AS_SHIPPED, GOOGLE_TOKENS, KEYS, vendorOf } from './as-shipped.ts'

/** A namespace of a table. */
interface NamespaceEntry {
  readonly provider?: string
  readonly config?: { readonly preset?: PresetName; readonly baseUrl?: string; readonly region?: string }
  readonly models?: readonly string[] | Readonly<Record<string, RouteEntry>>
}

interface RouteEntry {
  readonly targets: readonly { readonly model: string }[]
  readonly fallbacks?: readonly string[]
}

interface Table {
  readonly chain?: readonly object[]
  readonly namespaces: Readonly<Record<string, NamespaceEntry>>
  readonly aliases?: Readonly<Record<string, string>>
  readonly keys?: readonly object[]
  readonly prices?: { readonly models?: Readonly<Record<string, unknown>> }
}

/** Examples of other files, by page and what they are. */
const OTHER_FILES: Readonly<Record<string, string>> = {
  'docs/deployment.md, replicas': 'the values of the Helm chart: test/deploy renders it',
  'docs/deployment.md, nginx.ingress.kubernetes.io/proxy-body-size': 'annotations of an Ingress',
  'docs/deployment.md, rule_files': "Prometheus' own configuration",
}

const nameOf = ({ page, text }: YamlBlock): string => `${page}, ${Object.keys(parse(text) as object)[0]}`

const rowOf = (name: string) => AS_SHIPPED.find((row) => row.name === name)!
const openai = vendorOf(rowOf('preset-openai'), 'some-model')

/** The haiku of docs/plugins.md. */
const haiku: RequestHandler = ({ method, json: body }) => {
  if (method === 'GET') return json(['basho'])
  const { live } = body() as { readonly live: boolean }
  const words = { heard: 1, said: 1 }
  return live ? sse([{ text: 'Hello.' }, { ended: 'bow', words }]) : json({ text: 'Hello.', ended: 'bow', words })
}

/** The addresses of the examples that are no vendor's own. */
const OTHERS: Readonly<Record<string, RequestHandler>> = {
  'https://llm.example.com/v1': openai,
  'https://vllm.internal/v1': openai,
  'https://haiku.example': haiku,
  'https://my-resource.openai.azure.com': vendorOf(rowOf('azure-openai'), 'some-model'),
  // Lists of prices: those in use stay.
  'https://raw.githubusercontent.com': () => json({}, { status: 404 }),
  'https://mirror.example.com': () => json({}, { status: 404 }),
}

/** A link for the files that pages name but do not show. */
const LINK =
  "export default { kind: 'chain', apiVersion: 1, name: 'any', schema: { type: 'object', properties: {} }, create: () => ({ handle: (_, next) => next() }) }\n"

/** The model to call where the table names none. */
function anyModelOf({ provider = '', config = {} }: NamespaceEntry): string {
  if (provider === './haiku.ts') return 'basho'
  const { preset, region } = config
  const row = AS_SHIPPED.find(
    (each) => each.provider === provider && each.config.preset === preset && each.config.region === region,
  )
  return row?.model ?? (provider === 'sandbox' ? 'hello' : 'some-model')
}

/** The models that a reader would call: those that the table names, of each namespace, and one of those that name none. */
function modelsOf({ namespaces, aliases = {}, prices = {} }: Table): readonly string[] {
  const named = Object.entries(namespaces).flatMap(([namespace, { models = [] }]) =>
    Array.isArray(models)
      ? models.map((model) => `${namespace}/${model}`)
      : Object.entries(models as Readonly<Record<string, RouteEntry>>).flatMap(([name, { targets, fallbacks = [] }]) => [
          `${namespace}/${name}`,
          ...targets.map(({ model }) => model),
          ...fallbacks,
        ]),
  )
  const all = [...named, ...Object.keys(aliases), ...Object.keys(prices.models ?? {})].filter((model) => !model.includes('*'))
  const silent = Object.entries(namespaces).filter(([name]) => !all.some((model) => model.startsWith(`${name}/`)))
  return [...new Set([...all, ...silent.map(([name, entry]) => `${name}/${anyModelOf(entry)}`)])]
}

describe('each routing table in README and docs serves calls to its models, whole and streamed:', () => {
  const secret = createSecret('live')
  let network: VendorNetwork
  let local: ScriptedUpstream
  let home: Home
  let umg: Umg
  let url: string

  before(async () => {
    const vendors = AS_SHIPPED.flatMap((row) =>
      row.addresses.map((address) => [address, vendorOf(row, row.model ?? 'some-model')]),
    )
    network = await VendorNetwork.start({ ...GOOGLE_TOKENS, ...Object.fromEntries(vendors), ...OTHERS })
    local = await scriptedUpstream()
    const ollama = vendorOf(rowOf('ollama'), 'some-model')
    local.on((request) => (request.path.startsWith('/v1') ? openai(request) : ollama(request)))
    home = await Home.create({
      ...DOCUMENTED_FILES,
      'routes.yaml': 'version: 1\nnamespaces: { sandbox: { provider: sandbox } }\n',
    })
    const { cert, key } = selfSigned({ name: 'client' })
    for (const [name, text] of Object.entries({
      'client.pem': cert,
      'client.key': key,
      'vertex.json': KEYS.TEST_ACCOUNT,
      key: 'k',
    }))
      await home.write(name, text)
    const names = [...YAML_BLOCKS, UNCOMMENTED].flatMap(({ text }) =>
      [...text.matchAll(/\$\{env:(\w+)/g)].map(([, name]) => name!),
    )
    const env = Object.fromEntries(names.map((name) => [name, name === 'UMG_RESPONSES_KEY' ? 'k'.repeat(32) : 'vendor-key']))
    umg = home.run(['start', '--port', '0'], {
      env: { ...env, ...network.env, OLLAMA_BASE_URL: `${local.origin}/v1`, UMG_WEBHOOK_SECRET: `whsec_${'A'.repeat(44)}` },
    })
    url = (await umg.prints(/^listening on (\S+)$/m))[1]!
  })

  after(async () => {
    await home?.remove()
    await local?.close()
    await network?.close()
  })

  /** Where a reader's own files are: certificates, keys. */
  function fileOf(path: string): string {
    if (path.endsWith('ca.pem')) return network.env.NODE_EXTRA_CA_CERTS
    return join(home.path, ['client.pem', 'client.key', 'vertex.json'].find((name) => path.endsWith(name)) ?? 'key')
  }

  /**
   * The table with what an example leaves to its reader: a namespace and `auth` if there is none, files of its own, a key. What is on this
   * machine is at another port, which a test can have.
   */
  function completed(text: string): Table {
    const table = parse(text.replaceAll(/\$\{file:([^}]+)\}/g, (_, path: string) => `\${file:${fileOf(path)}}`)) as Table
    const known = Object.keys(table.namespaces).length > 0 ? table.namespaces : { sandbox: { provider: 'sandbox' } }
    const namespaces = Object.fromEntries(Object.entries(known).map(([name, entry]) => [name, atHome(entry)]))
    const key = { name: 'reader', hash: `sha256:${digestOf(secret)}`, kind: 'live', models: ['*'] }
    return { ...table, chain: table.chain ?? [{ plugin: 'auth' }], namespaces, keys: [...(table.keys ?? []), key] }
  }

  function atHome(entry: NamespaceEntry): NamespaceEntry {
    const { provider, config = {} } = entry
    const baseUrl = config.baseUrl ?? (config.preset && PRESETS[config.preset].baseUrl) ?? ''
    if (provider === 'ollama') return { ...entry, config: { ...config, baseUrl: local.origin } }
    return baseUrl.startsWith('http://') ? { ...entry, config: { ...config, baseUrl: `${local.origin}/v1` } } : entry
  }

  /** Lets the gateway serve by a table. Returns why it does not. */
  async function use(table: Table): Promise<string> {
    const text = stringify(table)
    for (const [, path = ''] of text.matchAll(/plugin: \.\/([\w-]+\.ts)/g))
      if (DOCUMENTED_FILES[path] === undefined) await home.write(path, LINK)
    umg.stdout = ''
    // At once: the gateway also looks for changes by itself.
    await home.write('next.yaml', text)
    await rename(join(home.path, 'next.yaml'), join(home.path, 'routes.yaml'))
    umg.signal('SIGHUP')
    const sha256 = createHash('sha256').update(text).digest('hex')
    const [line] = await umg.prints(new RegExp(`^.*(?:${sha256}.*routing table reloaded|routing table not reloaded).*$`, 'm'))
    return line.includes('not reloaded') ? line : ''
  }

  async function call(model: string, stream: boolean): Promise<string> {
    const reply = await fetch(`${url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${secret}`, 'content-type': 'application/json', 'x-team': 'blue' },
      body: JSON.stringify({ model, stream, max_tokens: 20, messages: [{ role: 'user', content: 'Hi.' }] }),
    })
    const text = await reply.text()
    expect(reply.status, `${model}: ${text}`).to.equal(200)
    if (stream) expect(text, model).to.match(/data: \[DONE\]\n\n$/)
    return text
  }

  it('all examples are found, and those of other files are known', () => {
    const others = YAML_BLOCKS.filter((block) => tableOf(block) === undefined)
    expect(others.map(nameOf)).to.have.members(Object.keys(OTHER_FILES))
  })

  it('the comments of routes.yaml have examples', () => {
    const { namespaces, ...table } = parse(UNCOMMENTED.text) as Table
    expect(table).to.include.keys('aliases', 'prices', 'budgets', 'expect')
    expect(namespaces).to.include.keys('acme')
    expect(tableOf(UNCOMMENTED)).to.not.equal(undefined)
  })

  for (const block of [...YAML_BLOCKS, UNCOMMENTED]) {
    const text = tableOf(block)
    if (text === undefined) continue
    it(`${block.page}, line ${block.line}`, async () => {
      const table = completed(text)
      expect(await use(table)).to.equal('')
      for (const model of modelsOf(table))
        for (const stream of [false, true]) expect(await call(model, stream), model).to.match(/"content":"[^"]/)
    })
  }
})
