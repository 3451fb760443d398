import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect } from 'chai'
import { json, type ScriptedUpstream, scriptedUpstream, sse } from '../../../core/testing/kit.ts'
import { SOURCES } from '../../support/command.ts'
import { anthropic } from '../sdk/anthropic-dialect.ts'
import { ask } from '../sdk/dialect.ts'
import { openai } from '../sdk/openai-dialect.ts'
import { Home } from './umg.ts'

const COVERAGE = new URL('../../support/call-coverage.ts', import.meta.url).href

/** Calls before the measured one: V8 and the gateway's memories are warm. */
const MEASURED = 12
const WARM_UP = 10

/** The most files of the project in which a function may run during a call: a reader who follows the call opens no more. */
const CALLS = [
  { name: 'a whole reply', model: 'open/m', stream: false, most: 67 },
  { name: 'a stream', model: 'open/m', stream: true, most: 69 },
  { name: 'a translated reply', model: 'claude/m', stream: false, most: 84 },
  { name: 'a call that fails over', model: 'acme/m', stream: false, most: 74 },
] as const

describe('the files that a call passes', () => {
  let upstream: ScriptedUpstream
  let home: Home
  let gateway: ReturnType<typeof spawn>
  let url: string
  let secret: string

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(({ path, json: body }) => {
      if (path.startsWith('/bad')) return json({ error: { message: 'no' } }, { status: 500 })
      const dialect = path.includes('messages') ? anthropic : openai
      const { stream } = body() as { readonly stream?: boolean }
      return stream ? sse(dialect.events({ text: ['Hi'] })) : json(dialect.whole({ text: ['Hi'] }))
    })
    home = await Home.create({
      'routes.yaml': `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { standard: { requests: 6000/min, tokens: 10M/min, concurrent: 50 } }, default: standard }
  - plugin: header-stamping
namespaces:
  open: { provider: openai-compatible, config: { baseUrl: "${upstream.origin}/v1" } }
  bad: { provider: openai-compatible, breaker: false, config: { baseUrl: "${upstream.origin}/bad/v1" } }
  claude: { provider: anthropic, config: { baseUrl: "${upstream.origin}", apiKey: "\${env:KEY}" } }
  acme: { models: { m: { targets: [{ model: bad/m }], fallbacks: [open/m] } } }
`,
    })
    secret = (await home.run(['keys', 'create', '--name', 'reader']).ended).stdout.trim()
    gateway = spawn(process.execPath, ['--import', COVERAGE, SOURCES, 'start', '--port', '0', '--workers', '1'], {
      cwd: home.path,
      env: { PATH: process.env.PATH, KEY: 'key-of-claude', UMG_WORKERS: '1' },
      stdio: ['ignore', 'pipe', 'inherit', 'ipc'],
    })
    let output = ''
    for await (const text of gateway.stdout!.setEncoding('utf8')) {
      output += text
      const listening = /listening on (\S+)/.exec(output)
      if (listening === null) continue
      url = listening[1]!
      break
    }
  })

  after(async () => {
    gateway?.kill('SIGKILL')
    await upstream?.close()
    await home?.remove()
  })

  async function filesOf(model: string, stream: boolean): Promise<readonly string[]> {
    const measured = once(gateway, 'message') as Promise<[readonly string[]]>
    const headers = { authorization: `Bearer ${secret}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ ...ask(openai, { stream }), model })
    const reply = await fetch(`${url}/v1/chat/completions`, { method: 'POST', headers, body })
    expect(reply.status, await reply.text()).to.equal(200)
    const [files] = await measured
    // What settles the call runs before the next one begins.
    const probed = once(gateway, 'message')
    await (await fetch(`${url}/livez`)).text()
    await probed
    return files
  }

  for (const { name, model, stream, most } of CALLS) {
    it(`are at most ${most} for ${name}`, async () => {
      for (let count = 0; count < WARM_UP; count++) await filesOf(model, stream)
      // What timers and the database run meanwhile is not in each of many calls.
      const calls: (readonly string[])[] = []
      for (let count = 0; count < MEASURED; count++) calls.push(await filesOf(model, stream))
      const files = calls[0]!.filter((file) => calls.every((call) => call.includes(file)))
      expect(files.length, files.join('\n')).to.be.within(20, most)
    })
  }
})
