import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, readFile, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import type { SaidTool } from '../../../core/testing/kit.ts'
import { find } from '../../support/requirements.ts'
import { getsThoughtBack } from './cases.ts'
import type { Gateway, Version } from './client.ts'
import type { Asked, ScriptedModel } from './fixture.ts'
import { type Protocol, THOUGHT } from './vendors.ts'

/** A program that works on a task by a model and by tools of its own. */
export interface CodingAgent {
  readonly name: string
  readonly program: 'codex' | 'claude' | 'opencode'
  readonly protocol: Protocol
  /** The version of Anthropic's API that it speaks. */
  readonly version?: Version
  /** Prepares an empty folder, which is also its user's home. Returns the arguments and the environment. */
  prepare(folder: string, settings: Settings): Promise<readonly [args: readonly string[], env: Readonly<Record<string, string>>]>
  /** The call by which it runs a command. `asked`: its request, which has its tools. */
  shell(command: string, asked: string): SaidTool
}

/** What its user sets. */
export interface Settings {
  readonly url: string
  readonly key: string
  readonly model: string
  /** Whether Codex calls OpenAI's own address, which is the gateway: then it opens a WebSocket first. */
  readonly isDefault?: boolean | undefined
  /** A server of tools for Codex: a program for Node. */
  readonly server?: string
}

const MADE = 'made.txt'
const TASK = `Make ${MADE}.`
const SAID = 'written by a tool'
const DONE = 'The file is made.'
const COMMAND = "printf 'written %s' 'by a tool' > made.txt; cat made.txt"

/** Coding agents, each with the protocol that it speaks. */
export const AGENTS: readonly CodingAgent[] = [
  {
    name: 'Codex CLI',
    program: 'codex',
    protocol: 'responses',
    async prepare(folder, { url, key, model, isDefault, server }) {
      const tools = `[mcp_servers.many]\ncommand = ${JSON.stringify(process.execPath)}\nargs = [${JSON.stringify(server)}]`
      const config = [
        `model = "${model}"`,
        isDefault ? `openai_base_url = "${url}/v1"` : 'model_provider = "umg"',
        'model_reasoning_effort = "low"',
        '[model_providers.umg]',
        'name = "umg"',
        `base_url = "${url}/v1"`,
        'env_key = "UMG_KEY"',
        'wire_api = "responses"',
        ...(server === undefined ? [] : [tools]),
      ]
      await writeFile(join(folder, 'config.toml'), config.join('\n'))
      const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', TASK]
      if (isDefault) await writeFile(join(folder, 'auth.json'), JSON.stringify({ OPENAI_API_KEY: key }))
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
    version: '2023-06-01',
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

/** Milliseconds after which an agent is ended. */
const PATIENCE_MS = 300_000

/** What an agent wrote until its end, and the file that it made. */
export interface Written {
  readonly said: string
  readonly errors: string
  readonly made: string | undefined
}

/** Runs an agent on its task, in an empty folder, to its end. */
export async function runAgent(agent: CodingAgent, settings: Settings): Promise<Written> {
  await using folder = await mkdtempDisposable(join(tmpdir(), 'umg-agent-'))
  const { path } = folder
  const [args, env] = await agent.prepare(path, settings)
  const child = spawn(find(agent.program)!, args, {
    cwd: path,
    env: { PATH: process.env.PATH, HOME: path, NO_PROXY: '127.0.0.1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: PATIENCE_MS,
  })
  const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  return { said, errors, made: await readFile(join(path, MADE), 'utf8').catch(() => undefined) }
}

/**
 * Has an agent finish its task, with a tool, by a model. Returns the requests of the task. Throws an `AssertionError` if the agent does not
 * finish, or if the upstream does not get back what it thought.
 */
export async function finishTask(
  agent: CodingAgent,
  { url, key, isDefault }: Pick<Gateway, 'url' | 'key'> & Pick<Settings, 'isDefault'>,
  model: ScriptedModel,
): Promise<readonly Asked[]> {
  model.answer((body) =>
    body.includes(SAID) || !body.includes('"tools"')
      ? { text: DONE }
      : { reasoning: THOUGHT, tools: [agent.shell(COMMAND, body)] },
  )
  const { said, errors, made } = await runAgent(agent, { url, key, model: model.id, isDefault })
  expect(said, errors).to.contain(DONE)
  expect(made).to.equal(SAID)
  const asked = model.asked.filter(({ body }) => body.includes('"tools"'))
  expect(asked).to.have.length(2)
  if (agent.protocol !== 'chat')
    expect(getsThoughtBack(model.vendor, agent.protocol, asked[1]!), asked[1]!.body).to.not.equal(false)
  return asked
}
