import { expect } from 'chai'
import type { CallView } from '../../../core/usage/calls.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { until } from '../../support/poll.ts'
import { type ApiClient, adminClient, memberClient } from './api-client.ts'

/** Server-sent events of a reply, one at a time. */
class Events {
  readonly #reader: ReadableStreamDefaultReader<string>
  #rest = ''

  constructor(reply: Response) {
    this.#reader = reply.body!.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** Resolves to the next event; undefined at the end. */
  async next(): Promise<string | undefined> {
    for (;;) {
      const end = this.#rest.indexOf('\n\n')
      if (end >= 0) {
        const event = this.#rest.slice(0, end)
        this.#rest = this.#rest.slice(end + 2)
        return event
      }
      const { value, done } = await this.#reader.read()
      if (done) return undefined
      this.#rest += value
    }
  }

  async call(): Promise<CallView> {
    const event = await this.next()
    expect(event).to.match(/^data: /)
    return JSON.parse(event!.slice('data: '.length))
  }
}

describe('requests as they end', () => {
  let gateway: TestGateway
  let admin: ApiClient

  beforeEach(async () => {
    gateway = await startTestGateway({
      routes: { chain: [{ plugin: 'auth' }], namespaces: { box: { provider: 'sandbox' } } },
    })
    admin = await adminClient(gateway)
  })

  afterEach(() => gateway?.stop())

  async function open(client: ApiClient, signal?: AbortSignal): Promise<Events> {
    const reply = await client.open('/requests/live', signal)
    expect(reply.headers.get('content-type')).to.equal('text/event-stream')
    const events = new Events(reply)
    // The first event is a heartbeat: no call after it is missed.
    expect(await events.next()).to.match(/^: /)
    return events
  }

  async function call(key?: string): Promise<string> {
    const body = { model: 'box/any', messages: [{ role: 'user', content: 'Hello!' }] }
    const reply = await gateway.fetch('/v1/chat/completions', { json: body, ...(key !== undefined && { key }) })
    await reply.text()
    return reply.headers.get('x-request-id')!
  }

  it('are sent one by one, as the look-up shows them', async () => {
    const events = await open(admin)
    for (let number = 0; number < 3; number++) {
      const id = await call()
      const live = await events.call()
      expect(live).to.include({ id, status: 200, model: 'box/any' })
      expect((await admin.get(`/requests/${id}`)).json as CallView).to.deep.equal(live)
    }
  })

  it('are sent to a member if they are of the same account', async () => {
    const { api, account } = await memberClient(gateway, 'Us')
    const key = await gateway.key({ account })
    const events = await open(api)
    await call()
    const ours = await call(key)
    expect((await events.call()).id).to.equal(ours)
  })

  it('are sent to each open stream, and to none that was closed', async () => {
    const leaving = new AbortController()
    const [first, second] = [await open(admin, leaving.signal), await open(admin)]
    const id = await call()
    expect((await first.call()).id).to.equal(id)
    expect((await second.call()).id).to.equal(id)
    leaving.abort()
    const next = await call()
    expect((await second.call()).id).to.equal(next)
  })

  it('are sent to ten streams of one user at once, and to others meanwhile', async () => {
    const { api: member } = await memberClient(gateway, 'Us')
    const leaving = new AbortController()
    await open(member, leaving.signal)
    for (let count = 0; count < 9; count++) await open(member)
    for (const path of ['/requests/live', '/requests.csv']) {
      const refused = await member.open(path)
      expect([refused.status, refused.headers.get('retry-after')]).to.deep.equal([429, '1'])
      const { error } = (await refused.json()) as { readonly error: { readonly code: string; readonly message: string } }
      expect(error.code).to.equal('too_many_streams')
      expect(error.message).to.match(/10 live views and exports .* Close one/)
    }
    await open(admin)
    leaving.abort()
    await until(async () => {
      const reply = await member.open('/requests/live')
      return reply.status === 200
    })
  })

  it('do not delay the end of the gateway', async () => {
    const events = await open(admin)
    const stopped = gateway.stop(60_000)
    expect(await events.next()).to.equal(undefined)
    await stopped
  })
})
