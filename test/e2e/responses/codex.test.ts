import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { json, openaiReply, type SaidTool, sse } from '../../../core/testing/kit.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

/** What Codex sends, as the upstream gets it. */
interface Asked {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[]
  readonly tools: readonly { readonly function: { readonly name: string } }[]
}

const COMMAND = 'echo written by a tool > made.txt; cat made.txt'

/** A call of the tool by which Codex runs commands. Its name depends on the version. */
function command({ tools }: Asked): SaidTool {
  const names = tools.map(({ function: { name } }) => name)
  return names.includes('exec_command')
    ? { name: 'exec_command', arguments: { cmd: COMMAND } }
    : { name: names.find((name) => name.includes('shell'))!, arguments: { command: ['sh', '-c', COMMAND] } }
}

describeWith('codex', 'Codex CLI, at /v1/responses', () => {
  let fixture: ResponsesFixture
  let folder: string

  before(async () => {
    fixture = await startFixture()
    folder = await mkdtemp(join(tmpdir(), 'umg-codex-'))
  })
  after(async () => {
    await fixture?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  it('finishes a task with a tool, by a model of another vendor', async () => {
    const { gateway, open } = fixture
    const asked: Asked[] = []
    open.on((request) => {
      if (request.method === 'GET') return json({ object: 'list', data: [] })
      const body = request.json() as Asked
      asked.push(body)
      const isOver = body.messages.at(-1)!.role === 'tool'
      return sse(openaiReply(isOver ? { text: 'The file is made.' } : { reasoning: 'Hm.', tools: [command(body)] }).stream)
    })
    await writeFile(
      join(folder, 'config.toml'),
      [
        'model = "open/gpt"',
        'model_provider = "umg"',
        '[model_providers.umg]',
        'name = "umg"',
        `base_url = "${gateway.url}/v1"`,
        'env_key = "UMG_KEY"',
        'wire_api = "responses"',
      ].join('\n'),
    )
    const codex = spawn(
      find('codex')!,
      ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Make made.txt.'],
      {
        cwd: folder,
        env: { ...process.env, CODEX_HOME: folder, UMG_KEY: gateway.liveKey, NO_PROXY: '127.0.0.1' },
        stdio: ['ignore', 'pipe', 'pipe'],
      },
    )
    const [said, errors] = await Promise.all([text(codex.stdout), text(codex.stderr), once(codex, 'exit')])
    expect(said, errors).to.contain('The file is made.')
    expect(await readFile(join(folder, 'made.txt'), 'utf8')).to.equal('written by a tool\n')
    expect(asked).to.have.length(2)
    expect(asked[1]!.messages.at(-2)).to.include({ role: 'assistant', reasoning_content: 'Hm.' })
    expect(JSON.stringify(asked[1]!.messages.at(-1))).to.contain('written by a tool')
  })
})
