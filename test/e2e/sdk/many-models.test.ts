import { expect } from 'chai'
import { json, scriptedUpstream } from '../../../core/testing/kit.ts'
import { functionCalls } from '../../support/function-calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'

const names = (models: number): string[] => Array.from({ length: models }, (_, index) => `model-${index}`)

/** A gateway whose only namespace names so many models, and a key that names them too. */
async function startWith(models: number): Promise<{ readonly gateway: TestGateway; readonly key: string }> {
  const namespaces = { local: { provider: 'sandbox', models: names(models) } }
  const gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces } })
  return { gateway, key: await gateway.key({ models: names(models).map((name) => `local/${name}`) }) }
}

const FEW = 200
const MANY = 10 * FEW

describe('A namespace and a key that name many models', () => {
  let few: Awaited<ReturnType<typeof startWith>>
  let many: Awaited<ReturnType<typeof startWith>>

  before(async () => {
    few = await startWith(FEW)
    many = await startWith(MANY)
    // What is made once, by the first call, is not measured.
    for (const { gateway } of [few, many]) await (await gateway.fetch('/v1/models')).text()
  })

  after(async () => {
    await few?.gateway.stop()
    await many?.gateway.stop()
  })

  const listed = async ({ gateway, key }: typeof few): Promise<number> => {
    const { data } = (await (await gateway.fetch('/v1/models', { key })).json()) as { data: unknown[] }
    return data.length
  }

  it('are listed in time that grows as their number does, and not as its square', async () => {
    const ofFew = await functionCalls(() => listed(few))
    const ofMany = await functionCalls(() => listed(many))
    expect(ofMany / ofFew).to.be.lessThan(12)
  })

  it('are put together once for all keys that allow the same models', async () => {
    expect(await listed(many)).to.equal(MANY)
    const key = await many.gateway.key({ models: names(MANY).map((name) => `local/${name}`) })
    await many.gateway.fetch('/v1/models/local%2Fmodel-1', { key })
    const again = await functionCalls(() => listed({ ...many, key }))
    expect(again).to.be.lessThan(3 * MANY)
  })

  it('are found at a first call without a look at each of them', async () => {
    const call = (each: typeof few, model: string) =>
      functionCalls(async () => {
        const json = { model, messages: [{ role: 'user', content: 'Hi' }] }
        const reply = await each.gateway.fetch('/v1/chat/completions', { method: 'POST', json, key: each.key })
        expect(reply.status, await reply.text()).to.equal(200)
      })
    /** Of several first calls, that with the fewest: the others had work of the gateway's own beside them. */
    const fewestOf = async (each: typeof few, models: number): Promise<number> => {
      const counts: number[] = []
      for (let index = 1; index <= 5; index++) counts.push(await call(each, `local/model-${models - index}`))
      return Math.min(...counts)
    }
    await call(few, 'local/model-0')
    await call(many, 'local/model-0')
    const ofFew = await fewestOf(few, FEW)
    const ofMany = await fewestOf(many, MANY)
    expect(ofMany / ofFew).to.be.lessThan(1.5)
  })
})

describe('An upstream that lists many models', () => {
  it('keeps the cooldown of a model that is called while all are listed', async () => {
    await using opened = new AsyncDisposableStack()
    const upstream = opened.adopt(await scriptedUpstream(), (each) => each.close())
    const data = names(1500).map((id) => ({ id, object: 'model' }))
    upstream.on(({ path }) =>
      path.endsWith('/models')
        ? json({ object: 'list', data })
        : json({ error: { message: 'slow down' } }, { status: 429, headers: { 'retry-after': '60' } }),
    )
    const open = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } }
    const gateway = await startTestGateway({ routes: { chain: [{ plugin: 'auth' }], namespaces: { open } } })
    opened.defer(() => gateway.stop())
    const targets = async () => (await gateway.fetch('/readyz?verbose')).text()
    const body = { model: 'open/model-0', messages: [{ role: 'user', content: 'Hi' }] }
    await (await gateway.fetch('/v1/chat/completions', { method: 'POST', json: body })).text()
    expect(await targets()).to.match(/open\/\*: .*cooling down/)
    await (await gateway.fetch('/v1/models')).text()
    expect(await targets()).to.match(/open\/\*: .*cooling down/)
  })
})
