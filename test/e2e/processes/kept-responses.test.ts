// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import OpenAI from 'openai'
import { onEachDatabase } from '../../support/databases.ts'
import { until } from '../../support/poll.ts'
import { type Cluster, clusterPerTest } from './cluster.ts'

const ROUTES = `version: 1
chain: [{ plugin: auth }]
namespaces:
  sandbox: { provider: sandbox }
keepResponses: { keys: ['\${env:KEEPING_KEY}'] }
`

onEachDatabase('Responses that are kept by several processes', (database) => {
  const start = clusterPerTest()

  const startKeeping = async (): Promise<Cluster> =>
    start({ 'routes.yaml': ROUTES }, { KEEPING_KEY: 'k'.repeat(32), UMG_DATABASE_URL: await database() })

  /** An SDK whose requests each have a connection of their own: they reach all proxies in turn. */
  const sdk = ({ url, secret }: Cluster): OpenAI =>
    new OpenAI({ baseURL: `${url}/v1`, apiKey: secret, maxRetries: 0, defaultHeaders: { connection: 'close' } })

  const ask = (client: OpenAI, input: string, previous?: string) =>
    client.responses.create({ model: 'sandbox/echo', input, ...(previous && { previous_response_id: previous }) })

  it('go on at any of them, also when control or a proxy was killed between two turns', async () => {
    const cluster = await startKeeping()
    const client = sdk(cluster)
    let last = await ask(client, 'First')
    for (const text of ['Second', 'Third', 'Fourth']) last = await ask(client, text, last.id)
    await cluster.crash('control')
    await cluster.whole()
    last = await ask(client, 'Fifth', last.id)
    await cluster.crash('proxy-1')
    await cluster.whole()
    last = await ask(client, 'Sixth', last.id)
    const { data } = await client.responses.inputItems.list(last.id, { limit: 100 })
    expect(data).to.have.length(11)
  })

  it('are found although control was killed before it had written them', async () => {
    const cluster = await startKeeping()
    const client = sdk(cluster)
    await ask(client, 'Hello')
    await ask(client, 'Hello')
    process.kill(cluster.pids.get('control')!, 'SIGSTOP')
    const { id } = await ask(client, 'Written later')
    await cluster.crash('control')
    await cluster.whole()
    await until(async () => (await client.responses.retrieve(id).catch(() => undefined)) !== undefined)
    expect(await client.responses.retrieve(id)).to.include({ status: 'completed' })
  })
})
