import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { VendorNetwork } from '../../support/vendor-network.ts'
import { Home } from '../lifecycle/umg.ts'
import { AS_SHIPPED, vendorOf } from './as-shipped.ts'

const read = (path: string): string => readFileSync(fileURLToPath(new URL(`../../../${path}`, import.meta.url)), 'utf8')
const [, README_TABLE = ''] = /```yaml\n(version: 1\n[\s\S]+?)```/.exec(read('README.md'))!

/** Tables that the gateway ships with, and what their readers call. */
const TABLES = [
  {
    name: 'the shipped routes.yaml',
    table: read('routes.yaml'),
    models: ['openai/gpt-5.5', 'anthropic/claude-sonnet-5', 'openrouter/meta-llama/llama-3.3-70b-instruct', 'ollama/qwen3'],
  },
  {
    name: "README's table",
    table: README_TABLE,
    models: ['openai/gpt-5.5', 'anthropic/claude-sonnet-5', 'acme/smart'],
  },
]

describe('umg start with', () => {
  let network: VendorNetwork
  let local: ScriptedUpstream

  before(async () => {
    const scripted = (name: string) => {
      const row = AS_SHIPPED.find((each) => each.name === name)!
      return { row, handler: vendorOf(row, 'some-model') }
    }
    local = await scriptedUpstream()
    local.on(scripted('preset-ollama').handler)
    network = await VendorNetwork.start(
      Object.fromEntries(
        ['preset-openai', 'anthropic', 'preset-openrouter'].map(scripted).map(({ row, handler }) => [row.addresses[0]!, handler]),
      ),
    )
  })

  after(async () => {
    await local?.close()
    await network?.close()
  })

  for (const { name, table, models } of TABLES)
    it(`${name} answers for every model that it names`, async () => {
      const env = {
        ...network.env,
        OPENAI_API_KEY: 'key',
        ANTHROPIC_API_KEY: 'key',
        OPENROUTER_API_KEY: 'key',
        OLLAMA_BASE_URL: `${local.origin}/v1`,
      }
      const home = await Home.create({ 'routes.yaml': table })
      try {
        const validated = await home.run(['validate'], { env }).ended
        expect(validated.code, validated.stderr).to.equal(0)
        const [, url] = await home.run(['start', '--port', '0'], { env }).prints(/^listening on (\S+)$/m)
        const created = await home.run(['keys', 'create', '--name', 'app'], { env }).ended
        const [key] = /sk-live-\w+/.exec(created.stdout) ?? expect.fail(created.stderr)
        for (const model of ['sandbox/hello', ...models]) {
          const reply = await fetch(`${url}/v1/chat/completions`, {
            method: 'POST',
            headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
            body: JSON.stringify({ model, messages: [{ role: 'user', content: 'Hi.' }] }),
          })
          const text = await reply.text()
          expect(reply.status, `${model}: ${text}`).to.equal(200)
          const { content } = (JSON.parse(text) as { choices: { message: { content: string } }[] }).choices[0]!.message
          if (model !== 'sandbox/hello') expect(content).to.equal('Hello.')
        }
      } finally {
        await home.remove()
      }
    })
})
