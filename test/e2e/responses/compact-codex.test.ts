import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempDisposable, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { expect } from 'chai'
import { json, openaiReply, sse } from '../../../core/testing/kit.ts'
import { describeWith, find } from '../../support/requirements.ts'
import { type ResponsesFixture, startFixture } from './fixture.ts'

const SUMMARY = 'The file made.txt is to be made; the shell works.'
const DONE = 'The file is made.'

describeWith('codex', 'Codex, whose conversation grows too long', () => {
  let fixture: ResponsesFixture

  before(async () => {
    fixture = await startFixture()
  })
  after(() => fixture?.stop())

  it('has it compacted by a model of chat completions, and goes on with the summary', async function () {
    this.timeout(120_000)
    const { gateway, open } = fixture
    const asked: string[] = []
    open.on((request) => {
      const body = request.body.toString()
      asked.push(body)
      const usage = (tokens: number) => ({ prompt_tokens: tokens, completion_tokens: 10, total_tokens: tokens + 10 })
      const reply = body.includes('"tool_choice":"none"')
        ? openaiReply({ text: SUMMARY, usage: usage(50_000) })
        : body.includes(SUMMARY)
          ? openaiReply({ text: DONE, usage: usage(100) })
          : openaiReply({ tools: [{ name: 'exec_command', arguments: { cmd: 'echo works' } }], usage: usage(50_000) })
      return body.includes('"stream":true') ? sse(reply.stream) : json(reply.whole)
    })
    await using folder = await mkdtempDisposable(join(tmpdir(), 'umg-codex-'))
    const { path } = folder
    const config = [
      'model = "open/gpt"',
      'model_provider = "umg"',
      'model_auto_compact_token_limit = 20000',
      '[model_providers.umg]',
      // By this name Codex asks the service itself for a compaction.
      'name = "OpenAI"',
      `base_url = "${gateway.url}/v1"`,
      'env_key = "UMG_KEY"',
      'wire_api = "responses"',
      'supports_websockets = false',
    ]
    await writeFile(join(path, 'config.toml'), config.join('\n'))
    const args = ['exec', '--skip-git-repo-check', '--dangerously-bypass-approvals-and-sandbox', 'Make made.txt.']
    const child = spawn(find('codex')!, args, {
      cwd: path,
      env: { PATH: process.env.PATH, HOME: path, NO_PROXY: '127.0.0.1', CODEX_HOME: path, UMG_KEY: gateway.liveKey },
      stdio: ['ignore', 'pipe', 'pipe'],
      timeout: 100_000,
    })
    const [said, errors] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
    expect(said, errors).to.contain(DONE)
    const [first, compaction, next] = asked as [string, string, string]
    expect(first).to.include('Make made.txt.')
    expect(compaction).to.include('"tool_choice":"none"').and.to.include('works')
    expect(next).to.include(SUMMARY)
  })
})
