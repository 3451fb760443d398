// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
import { expect } from 'chai'
import OpenAI from 'openai'
import { onEachDatabase } from '../../support/databases.ts'
import { clusterPerTest } from './cluster.ts'

const ROUTES = `version: 1
chain: [{ plugin: auth }]
namespaces:
  sandbox: { provider: sandbox }
keepResponses: { keys: ['\${env:KEEPING_KEY}'] }
`

onEachDatabase('Conversations that are kept by several processes', (database) => {
  const start = clusterPerTest()

  it('have each turn when its reply is there, and all turns that end at the same time', async () => {
    const env = { KEEPING_KEY: 'k'.repeat(32), UMG_DATABASE_URL: await database() }
    const { url, secret } = await start({ 'routes.yaml': ROUTES }, env)
    // Requests have connections of their own: they reach all proxies in turn.
    const client = new OpenAI({
      baseURL: `${url}/v1`,
      apiKey: secret,
      maxRetries: 0,
      defaultHeaders: { connection: 'close' },
    })
    const { id } = await client.conversations.create()
    const turn = (input: string) => client.responses.create({ model: 'sandbox/echo', conversation: id, input })
    const count = async () => {
      let items = 0
      for await (const _ of client.conversations.items.list(id, { limit: 100 })) items++
      return items
    }
    for (let turns = 1; turns <= 3; turns++) {
      await turn(`turn ${turns}`)
      expect(await count()).to.equal(2 * turns)
    }
    await Promise.all(Array.from({ length: 10 }, (_, index) => turn(`at once ${index}`)))
    expect(await count()).to.equal(26)
  })
})
