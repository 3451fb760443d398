import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { appendFile, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'chai'
import { json, type SaidTool } from '../../../core/testing/kit.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { type Fixture, startFixture } from './fixture.ts'
import { type Protocol, THOUGHT, VENDORS } from './vendors.ts'

/** A program that works on a task by a model and by tools of its own. */
interface CodingAgent {
  readonly name: string
  readonly program: 'codex' | 'claude' | 'opencode'
  readonly protocol: Protocol
  /** Prepares an empty folder, which is also its user's home. Returns the arguments and the environment. */
  prepare(folder: string, settings: Settings): Promise<readonly [args: readonly string[], env: Readonly<Record<string, string>>]>
  /** The call by which it runs a command. `asked`: its request, which has its tools. */
  shell(command: string, asked: string): SaidTool
}

/** What its user sets. */
interface Settings {
  readonly url: string
  readonly key: string
  readonly model: string
}

const TASK = 'Make made.txt.'
const SAID = 'written by a tool'
const COMMAND = "printf 'written %s' 'by a tool' > made.txt; cat made.txt"

const AGENTS: readonly CodingAgent[] = [
  {
    name: 'Codex CLI',
    program: 'codex',
    protocol: 'responses',
    async prepare(folder, { url, key, model }) {
      const config = [
        `model = "${model}"`,
        'model_provider = "umg"',
        'model_reasoning_effort = "low"',
        '[model_providers.umg]',
        'name = "umg"',
        `base_url = "${url}/v1"`,
        'env_key = "UMG_KEY"',
        'wire_api = "responses"',
      ]
      await writeFile(join(folder, 'config.toml'), config.join('\n'))
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK]
      return [args, { CODEX_HOME: folder, UMG_KEY: key }]
    },
    // The name depends on the version.
    shell: (command, asked) =>
      asked.includes('"exec_command"')
        ? { name: 'exec_command', arguments: { cmd: command } }
        : { name: 'shell', arguments: { command: ['sh', '-c', command] } },
  },
  {
    name: 'Claude Code',
    program: 'claude',
    protocol: 'messages',
    async prepare(_folder, { url, key, model }) {
      const settings = { ANTHROPIC_BASE_URL: url, ANTHROPIC_API_KEY: key, ANTHROPIC_MODEL: model }
      // Of nothing else that it sends is the gateway the receiver.
      return [['-p', TASK, '--allowedTools', 'Bash'], { ...settings, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' }]
    },
    shell: (command) => ({ name: 'Bash', arguments: { command, description: 'Makes a file' } }),
  },
  {
    name: 'opencode',
    program: 'opencode',
    protocol: 'chat',
    async prepare(folder, { url, key, model }) {
      const limit = { context: 100_000, output: 4000 }
      const options = { baseURL: `${url}/v1`, apiKey: key }
      const models = { [model]: { name: model, tool_call: true, reasoning: true, limit } }
      const provider = { umg: { npm: '@ai-sdk/openai-compatible', name: 'umg', options, models } }
      const settings = { model: `umg/${model}`, small_model: `umg/${model}`, autoupdate: false, share: 'disabled', provider }
      await writeFile(join(folder, 'opencode.json'), JSON.stringify({ ...settings, permission: { bash: 'allow' } }))
      const offline = ['AUTOUPDATE', 'DEFAULT_PLUGINS', 'LSP_DOWNLOAD', 'MODELS_FETCH'].map((what) => [
        `OPENCODE_DISABLE_${what}`,
        '1',
      ])
      return [['run', TASK], Object.fromEntries(offline)]
    },
    shell: (command) => ({ name: 'bash', arguments: { command, description: 'Makes a file' } }),
  },
]

/** Refusals of an upstream that no repetition can change. */
const FINAL = [
  { status: 401, error: { type: 'invalid_request_error', code: 'invalid_api_key' } },
  { status: 402, error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
  { status: 403, error: { type: 'invalid_request_error', code: 'unsupported_country_region_territory' } },
  { status: 404, error: { type: 'invalid_request_error', code: 'model_not_found' } },
  { status: 429, error: { type: 'insufficient_quota', code: 'insufficient_quota' } },
]

/** For Codex: a server of forty tools. */
const MANY_TOOLS = `
[mcp_servers.many]
command = ${JSON.stringify(process.execPath)}
args = [${JSON.stringify(fileURLToPath(new URL('many-tools.mjs', import.meta.url)))}]
`

const MODELS = VENDORS.filter(({ name }) => ['openai-compatible', 'openai-by-responses', 'anthropic', 'gemini'].includes(name))

for (const agent of AGENTS) {
  describeWith(agent.program, agent.name, () => {
    let fixture: Fixture
    let folder: string

    before(async () => {
      fixture = await startFixture(MODELS)
    })
    beforeEach(async () => {
      folder = await mkdtemp(join(tmpdir(), 'umg-agent-'))
    })
    afterEach(() => rm(folder, { recursive: true, force: true }))
    after(() => fixture?.stop())

    /** Runs it to its end. */
    async function run(settings: Settings, more = ''): Promise<{ readonly said: string; readonly errors: string }> {
      const [args, env] = await agent.prepare(folder, settings)
      if (more !== '') await appendFile(join(folder, 'config.toml'), more)
      const child = spawn(find(agent.program)!, args, {
        cwd: folder,
        env: { PATH: process.env.PATH, HOME: folder, NO_PROXY: '127.0.0.1', ...env },
        stdio: ['ignore', 'pipe', 'pipe'],
      })
      const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
      return { said, errors }
    }

    for (const vendor of MODELS) {
      it(`finishes a task with a tool, by a model of ${vendor.name}`, async () => {
        const model = fixture.models.get(vendor)!
        model.answer((body) =>
          body.includes(SAID) || !body.includes('"tools"')
            ? { text: 'The file is made.' }
            : { reasoning: THOUGHT, tools: [agent.shell(COMMAND, body)] },
        )
        const { said, errors } = await run({ url: fixture.url, key: fixture.key, model: model.id })
        expect(said, errors).to.contain('The file is made.')
        expect(await readFile(join(folder, 'made.txt'), 'utf8')).to.equal(SAID)
        const asked = model.asked.filter(({ body }) => body.includes('"tools"'))
        expect(asked).to.have.length(2)
        const returned = vendor.returns(agent.protocol).filter((one) => asked[1]!.body.includes(one))
        if (agent.protocol !== 'chat') expect(returned, asked[1]!.body).to.have.length(1)
      })
    }

    for (const { status, error } of FINAL) {
      // It repeats any 429: OpenAI's own exhausted quota too.
      if (agent.program === 'opencode' && error.code === 'insufficient_quota') continue
      it(`stops at once if the upstream refuses with ${status} ${error.code}`, async () => {
        const model = fixture.models.get(MODELS[0]!)!
        model.refuse(json({ error: { message: 'No.', param: null, ...error } }, { status }))
        await run({ url: fixture.url, key: fixture.key, model: model.id })
        // opencode asks for a title too, and Claude Code twice for a model that is not there.
        expect(model.asked.length).to.be.within(1, 2)
      })
    }

    if (agent.program === 'codex') {
      it('finds and calls one of forty tools of a server, by a model that has no search of tools', async () => {
        const model = fixture.models.get(MODELS[0]!)!
        let isSearched = false
        model.answer((body) => {
          if (body.includes('place_7 says hello')) return { text: 'Found it.' }
          const { tools } = JSON.parse(body) as { tools: { function: { name: string } }[] }
          const name = tools.map((tool) => tool.function.name).find((one) => one.endsWith('place_7'))
          if (name !== undefined) return { tools: [{ name, arguments: { what: 'hello' } }] }
          isSearched = true
          return { tools: [{ name: 'tool_search', arguments: { query: 'place number 7', limit: 3 } }] }
        })
        // Codex defers tools behind its search for models that it knows.
        const known = `${MODELS[0]!.name}/gpt-5.5`
        const { said, errors } = await run({ url: fixture.url, key: fixture.key, model: known }, MANY_TOOLS)
        expect(said, errors).to.contain('Found it.')
        expect(isSearched).to.equal(true)
      })
    }

    it('reports a wrong key at once', async () => {
      const { said, errors } = await run({ url: fixture.url, key: 'sk-live-wrong', model: fixture.models.get(MODELS[0]!)!.id })
      expect(said + errors).to.contain('Incorrect API key provided')
    })
  })
}
