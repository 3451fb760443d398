// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { hold, json, openaiReply, type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { Cluster } from '../processes/cluster.ts'

const SECRET = 'k'.repeat(32)

const routes = (origin: string) => `version: 1
chain: [{ plugin: auth, config: { anonymous: { models: ["*"] } } }]
namespaces: { up: { provider: openai-compatible, breaker: false, config: { baseUrl: "${origin}/v1" } } }
keepResponses: { keys: ["\${env:UMG_RESPONSES_KEY}"] }
`

interface State {
  readonly id: string
  readonly status: string
  readonly error: { readonly code: string; readonly message: string } | null
}

onEachDatabase('Responses in the background of several processes', (create) => {
  let upstream: ScriptedUpstream
  let cluster: Cluster
  /** Another gateway on the same database, which waits for a shorter time. */
  let reader: TestGateway | undefined
  let database: string

  beforeEach(async () => {
    database = await create()
    upstream = await scriptedUpstream()
    cluster = await Cluster.start(
      { 'routes.yaml': routes(upstream.origin) },
      { UMG_DATABASE_URL: database, UMG_RESPONSES_KEY: SECRET },
    )
  })
  afterEach(async () => {
    await reader?.stop()
    reader = undefined
    await cluster?.stop()
    await upstream?.close()
  })

  /** Each on a connection of its own: they reach all proxies in turn. */
  async function ask(path: string, body?: object): Promise<State> {
    const reply = await fetch(`${cluster.url}${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: { 'content-type': 'application/json', connection: 'close' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    return (await reply.json()) as State
  }
  const begin = () => ask('/v1/responses', { model: 'up/m', input: 'Think', background: true })
  const statuses = async (id: string) =>
    new Set((await Promise.all(Array.from({ length: 4 }, () => ask(`/v1/responses/${id}`)))).map(({ status }) => status))

  /** The lines in the journals of calls. */
  async function noted(): Promise<string> {
    const folder = join(cluster.home.path, 'data', 'journal')
    const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.jsonl'))
    return (await Promise.all(names.map((name) => readFile(join(folder, name), 'utf8')))).join('')
  }

  it('are polled and cancelled by any process', async () => {
    const [first, second] = [hold(), hold()]
    for (const gate of [first, second]) {
      const [head, ...rest] = json(openaiReply({ text: 'Thought' }).whole)
      upstream.reply([gate, head!, ...rest])
    }
    const [one, two] = [await begin(), await begin()]
    await Promise.all([first.reached, second.reached])
    await poll(
      () => statuses(one.id),
      (found) => found.has('in_progress') && found.size === 1,
    )
    const cancelled = await Promise.all(Array.from({ length: 4 }, () => ask(`/v1/responses/${one.id}/cancel`, {})))
    for (const each of cancelled) expect(each).to.deep.equal(cancelled[0]).and.to.include({ status: 'cancelled' })
    first.release()
    second.release()
    await poll(
      () => statuses(two.id),
      (found) => found.has('completed') && found.size === 1,
    )
    expect([...(await statuses(one.id))]).to.deep.equal(['cancelled'])
  })

  it('fail in words when their process is killed', async () => {
    const gate = hold()
    upstream.reply([gate])
    const { id } = await begin()
    await gate.reached
    await poll(
      () => statuses(id),
      (found) => found.has('in_progress'),
    )
    reader = await startTestGateway({
      database,
      routes: routes(upstream.origin),
      env: { UMG_RESPONSES_KEY: SECRET },
      times: { lease: 4000 },
    })
    // A call under way is noted each second: before, it would have no row.
    await poll(noted, (lines) => lines.includes('"responses"'))
    for (const proxy of ['proxy-1', 'proxy-2']) await cluster.crash(proxy)
    await cluster.whole()
    const failed = await poll(
      async () => (await (await fetch(`${reader!.url}/v1/responses/${id}`)).json()) as State,
      ({ status }) => status !== 'in_progress',
    )
    expect(failed).to.include({ status: 'failed' })
    expect(failed.error).to.deep.equal({
      code: 'response_process_ended',
      message: 'The process of the gateway that made this response has ended. Ask for it again.',
    })
    expect(await ask(`/v1/responses/${id}`)).to.deep.equal(failed)
    expect(await ask(`/v1/responses/${id}/cancel`, {})).to.deep.equal(failed)
    const [row] = await poll(
      () => reader!.store.db.selectFrom('calls').selectAll().where('error', '=', 'process_killed').execute(),
      ({ length }) => length > 0,
    )
    expect(row).to.include({ endpoint: 'responses', outcome: 'gateway_error', estimated: 1 })
  })
})
