import { expect } from 'chai'
import { createKey } from '../../../core/keys/keys.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { startRedis, type TestRedis } from '../../support/redis.ts'
import { describeWith } from '../../support/requirements.ts'

const routesWith = (limits: Record<string, unknown>) => ({
  chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes: { standard: limits }, default: 'standard' } }],
  namespaces: { sandbox: { provider: 'sandbox' } },
})

const ask = (gateway: TestGateway, key: string, text = 'Hello!'): Promise<Response> =>
  gateway.fetch('/v1/chat/completions', { key, json: { model: 'sandbox/m', messages: [{ role: 'user', content: text }] } })

async function statusOf(gateway: TestGateway, key: string): Promise<number> {
  const reply = await ask(gateway, key)
  await reply.text()
  return reply.status
}

/** The numbers of calls that were served and that were limited. */
async function countOf(calls: readonly Promise<number>[]): Promise<readonly [number, number]> {
  const statuses = await Promise.all(calls)
  return [statuses.filter((status) => status === 200).length, statuses.filter((status) => status === 429).length]
}

describe('limits of a key', () => {
  onEachDatabase('with several gateways on one database', (database) => {
    let url: string
    let gateways: TestGateway[]

    beforeEach(async () => {
      url = await database()
      const options = { database: url, routes: routesWith({ requests: '12/day' }) }
      gateways = [await startTestGateway(options), await startTestGateway(options)]
    })

    afterEach(() => Promise.all(gateways?.map((gateway) => gateway.stop()) ?? []))

    it('hold for all of them together', async () => {
      const [one, two] = gateways as [TestGateway, TestGateway]
      const calls = Array.from({ length: 40 }, (_, index) => statusOf(index % 3 === 0 ? two : one, one.liveKey))
      const [served] = await countOf(calls)
      // What one of them holds and does not use comes back within a moment.
      let total = served
      while (total < 12) if ((await statusOf(one, one.liveKey)) === 200) total += 1
      expect(await countOf([statusOf(one, one.liveKey), statusOf(two, one.liveKey)])).to.deep.equal([0, 2])
    })

    it('are remembered when gateways are restarted', async () => {
      const [one, two] = gateways as [TestGateway, TestGateway]
      for (let call = 0; call < 9; call++) expect(await statusOf(one, one.liveKey)).to.equal(200)
      const key = one.liveKey
      await one.stop()
      await two.stop()
      const next = await startTestGateway({ database: url, routes: routesWith({ requests: '12/day' }) })
      gateways = [next]
      const calls = Array.from({ length: 10 }, () => statusOf(next, key))
      expect(await countOf(calls)).to.deep.equal([3, 7])
    })
  })

  describeWith('redis', 'with several gateways on one Redis', () => {
    let redis: TestRedis
    let gateways: TestGateway[]
    let keys: readonly [string, string]

    beforeEach(async () => {
      redis = await startRedis()
      const options = { redis: redis.url, routes: routesWith({ requests: '400/day', concurrent: 100 }) }
      gateways = [await startTestGateway(options), await startTestGateway(options)]
      const [one, two] = gateways as [TestGateway, TestGateway]
      const { secret, key } = await createKey(one.store, { name: 'shared', kind: 'live' })
      // Two databases, with the same key.
      const row = await one.store.db.selectFrom('keys').selectAll().where('id', '=', key.id).executeTakeFirstOrThrow()
      const { account_id } = await two.store.db.selectFrom('keys').select('account_id').executeTakeFirstOrThrow()
      await two.store.db
        .insertInto('keys')
        .values({ ...row, account_id })
        .execute()
      keys = [secret, secret]
    })

    afterEach(async () => {
      await Promise.all(gateways?.map((gateway) => gateway.stop()) ?? [])
      await redis?.stop()
    })

    it('hold for all of them together', async () => {
      const [one, two] = gateways as [TestGateway, TestGateway]
      while ((await one.metric('umg_quota_questions_total', { result: 'answered' })) === 0) await statusOf(one, one.liveKey)
      let served = 0
      for (let call = 0; call < 900 && served < 400; call++) {
        const gateway = call % 2 === 0 ? one : two
        if ((await statusOf(gateway, keys[call % 2]!)) === 200) served += 1
      }
      expect(served).to.equal(400)
      expect(await countOf([statusOf(one, keys[0]), statusOf(two, keys[1])])).to.deep.equal([0, 2])
    })

    it('have in the log why Redis could not be reached, and that it can be again', async () => {
      const [one] = gateways as [TestGateway, TestGateway]
      await redis.kill()
      const away = await one.logged(({ msg }) => msg === 'Redis cannot be reached')
      expect(away.err).to.match(/^[A-Z_]+$|^\w+Error at/)
      expect(away.err).not.to.match(/^Error at/)
      await redis.restart()
      await one.logged(({ msg }) => msg === 'Redis can be reached again')
    })

    it('go on while Redis is away, and Redis learns what was spent when it is back, empty', async () => {
      const [one, two] = gateways as [TestGateway, TestGateway]
      while ((await one.metric('umg_quota_questions_total', { result: 'answered' })) === 0) await statusOf(one, one.liveKey)
      for (let call = 0; call < 10; call++) expect(await statusOf(one, keys[0])).to.equal(200)
      await redis.kill()
      for (let call = 0; call < 10; call++) expect(await statusOf(one, keys[0])).to.equal(200)
      await redis.restart()
      await one.logged(({ msg }) => msg === 'the limits of all processes are shared again')
      let served = 0
      for (let call = 0; call < 400; call++) if ((await statusOf(two, keys[1])) === 200) served += 1
      expect(served).to.be.at.most(380)
    })
  })
})
