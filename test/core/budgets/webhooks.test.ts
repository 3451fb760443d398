import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { endpointOf, Webhooks } from '../../../core/budgets/webhooks.ts'
import { createLog } from '../../../core/observe/log.ts'
import { Secret } from '../../../core/sdk/api.ts'
import { openStore, type Store } from '../../../core/store/database.ts'
import { SECRET, type WebhookReceiver, webhookReceiver } from '../../e2e/budgets/webhook-receiver.ts'

describe('a message to a webhook', () => {
  let store: Store
  let receiver: WebhookReceiver
  let webhooks: Webhooks | undefined
  let lines: Record<string, unknown>[]
  let onLine: () => void

  beforeEach(async () => {
    store = await openStore('sqlite::memory:')
    receiver = await webhookReceiver()
    lines = []
    onLine = () => undefined
  })

  afterEach(async () => {
    await webhooks?.close()
    webhooks = undefined
    await receiver?.close()
    await store?.close()
  })

  const stream = {
    write(text: string) {
      lines.push(JSON.parse(text))
      onLine()
    },
  }

  function start(pauses: readonly number[]): void {
    const endpoint = { url: receiver.url, secret: new Secret(SECRET) }
    const log = createLog({ level: 'info', stream })
    webhooks = new Webhooks({ store, log, endpoints: () => [endpoint], times: { poll: 10, pauses } })
  }

  const add = (url = receiver.url) =>
    store.db
      .insertInto('webhook_messages')
      .values({
        id: 'msg_1',
        endpoint: endpointOf(url),
        created_at: Date.now(),
        body: '{"type":"test","data":{}}',
        tries: 0,
        due_at: Date.now(),
      })
      .execute()

  const waiting = async (): Promise<number> => (await store.db.selectFrom('webhook_messages').selectAll().execute()).length

  /** This store runs in the same thread: the deliveries need turns of the event loop. */
  async function untilNoneWaits(): Promise<void> {
    while ((await waiting()) > 0) await setImmediate()
  }

  it('is sent again, with the same id, until it is accepted; a redirect is not followed', async () => {
    receiver.answer(500, 302, 429)
    await add()
    start([1, 1, 1, 1])
    await receiver.until(4)
    await untilNoneWaits()
    expect(receiver.received.map(({ id, isSigned }) => [id, isSigned])).to.deep.equal(Array(4).fill(['msg_1', true]))
    expect(lines.map(({ reason }) => reason)).to.deep.equal(['status 500', 'status 302', 'status 429'])
    expect(lines[0]).to.include({ webhook: 'budgets.webhooks[0]', message: 'msg_1', tries: 1 })
  })

  it('is dropped when it was refused too often, and the log says so', async () => {
    receiver.answer(500, 500, 500)
    await add()
    const dropped = new Promise<void>((resolve) => {
      onLine = () => {
        if (lines.at(-1)!.msg === 'a webhook did not accept a message, which is dropped') resolve()
      }
    })
    start([1, 1])
    await dropped
    expect(receiver.received).to.have.length(3)
    expect(await waiting()).to.equal(0)
  })

  it('waits while it is not accepted, and goes on after a restart', async () => {
    receiver.answer(500)
    await add()
    start([60_000])
    await receiver.until(1)
    await webhooks!.close()
    expect(await waiting()).to.equal(1)
    await store.db.updateTable('webhook_messages').set({ due_at: Date.now() }).execute()
    start([60_000])
    await receiver.until(2)
    await untilNoneWaits()
  })

  it('is not sent to a webhook that is no longer in routes.yaml', async () => {
    await add('http://127.0.0.1:9/gone')
    start([1])
    await untilNoneWaits()
    expect(lines).to.deep.equal([])
  })
})
