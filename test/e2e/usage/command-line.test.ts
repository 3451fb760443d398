import { join } from 'node:path'
import { expect } from 'chai'
import OpenAI from 'openai'
import { openStore } from '../../../core/store/database.ts'
import { createCallWriter } from '../../../core/usage/call-writer.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { type CallFields, callRowOf } from '../../core/usage/outcome.ts'
import { poll } from '../../support/poll.ts'
import { type Ended, Home, type Umg } from '../lifecycle/umg.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { box: { provider: sandbox } }\n'
const DAY_MS = 86_400_000

describe('the command line beside a running gateway', () => {
  let home: Home
  let running: Umg | undefined

  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
  })

  afterEach(() => home?.remove())

  const umg = (...args: string[]): Promise<Ended> => home.run(args).ended

  /** Starts a gateway, and calls it once. Resolves to the request id. */
  async function callOnce(): Promise<string> {
    const { umg, url } = await home.start()
    running = umg
    const [apiKey] = await umg.prints(/sk-test-\w+/)
    const client = new OpenAI({ baseURL: `${url}/v1`, apiKey })
    const messages = [{ role: 'user' as const, content: 'Hello!' }]
    const { request_id } = await client.chat.completions.create({ model: 'box/any', messages }).withResponse()
    return request_id!
  }

  /** Writes calls to the database of the next gateway. */
  async function write(calls: readonly CallFields[]): Promise<void> {
    const store = await openStore(`sqlite:${join(home.path, 'data', 'gateway.db')}`)
    const writer = createCallWriter(store)
    await writer.write(calls.map((call, number) => callRowOf({ number, ...call })))
    await store.close()
  }

  it('shows a request by its id and by a prefix of it', async () => {
    const id = await callOnce()
    const shown = await poll(
      () => umg('requests', 'show', id, '--json'),
      ({ code }) => code === 0,
    )
    expect(JSON.parse(shown.stdout) as CallView).to.include({ id, model: 'box/any', status: 200 })
    const { stdout, code } = await umg('requests', 'show', id.slice(0, 20))
    expect(code).to.equal(0)
    expect(stdout)
      .to.include(id)
      .and.to.match(/^attempt 1 +box\/any: ok, \S+ ms$/m)
  })

  it('keeps every written request and an intact database when the gateway is killed', async () => {
    const id = await callOnce()
    await poll(
      () => umg('requests', 'show', id),
      ({ code }) => code === 0,
    )
    running!.signal('SIGKILL')
    await running!.ended
    const { umg: again } = await home.start()
    expect(again.stderr).not.to.match(/damaged/)
    expect((await umg('requests', 'show', id)).code).to.equal(0)
  })

  it('shows the last request after the gateway has drained', async () => {
    const id = await callOnce()
    running!.signal('SIGINT')
    expect((await running!.ended).code).to.equal(0)
    expect((await umg('requests', 'show', id)).code).to.equal(0)
  })

  it('removes requests and usage after their retention', async () => {
    const now = Date.now()
    await write([
      { at: now - 3 * DAY_MS, key: 'key_old' },
      { at: now - 400 * DAY_MS, key: 'key_older' },
      { at: now, key: 'key_new' },
    ])
    await home.start('--keep-requests', '24h', '--keep-usage', '7d')
    const usage = () => umg('usage', '--group', 'key', '--format', 'csv', '--from', new Date(now - 399 * DAY_MS).toISOString())
    const { stdout } = await poll(usage, (ended) => !ended.stdout.includes('key_older'))
    expect(stdout).to.include('key_old,').and.to.include('key_new,')
    expect((await umg('requests', 'list', '--format', 'jsonl')).stdout).to.match(/^\{.*"key_new".*\}\n$/)
  })

  it('explains an invalid option', async () => {
    const group = await umg('usage', '--group', 'prompt')
    expect(group.code).to.equal(2)
    expect(group.stderr).to.include('Give model, key, account or tag:NAME.')
    const start = await umg('start', '--keep-requests', '0')
    expect(start.code).to.equal(2)
    expect(start.stderr).to.include('Give hours or days: 12h, 30d.')
  })
})
