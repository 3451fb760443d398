import { expect } from 'chai'
import type OpenAI from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import { hold, json, type ScriptedUpstream } from '../../../core/testing/kit.ts'
import { onEachDatabase } from '../../support/databases.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { allOf, ended, scriptedUpstream, startKeeping, streamUntil, UPSTREAMS, wholeAfter } from './background-fixture.ts'

const LEASE_MS = 1000

onEachDatabase('Responses in the background of two gateways', (create) => {
  let upstream: ScriptedUpstream
  let one: TestGateway
  let two: TestGateway
  let client: OpenAI
  let other: OpenAI

  beforeEach(async () => {
    const database = await create()
    upstream = await scriptedUpstream()
    one = await startKeeping(upstream, { database, times: { lease: LEASE_MS } })
    two = await startKeeping(upstream, { database, times: { lease: LEASE_MS } })
    client = one.openai().withOptions({ maxRetries: 0 })
    other = two.openai(one.liveKey).withOptions({ maxRetries: 0 })
  })
  afterEach(async () => {
    await one?.stop()
    await two?.stop()
    await upstream?.close()
  })

  const begin = (more: object = {}) =>
    client.responses.create({
      model: 'chat/m',
      input: 'Think',
      background: true,
      ...more,
    } as never) as unknown as Promise<Response>
  const read = async (gateway: TestGateway, id: string) =>
    (await gateway.fetch(`/v1/responses/${id}`, { key: one.liveKey })).json()
  const rows = (outcome: string) =>
    poll(
      () =>
        one.store.db.selectFrom('calls').selectAll().where('outcome', '=', outcome).where('endpoint', '=', 'responses').execute(),
      ({ length }) => length > 0,
    )

  for (const { where, by } of [
    { where: 'the gateway that makes it', by: () => client },
    { where: 'another gateway', by: () => other },
  ]) {
    it(`is cancelled at ${where}, once, and its upstream is left`, async () => {
      const gate = hold()
      const asked = upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
      const { id } = await begin()
      await asked
      const cancelled = await by().responses.cancel(id)
      expect(cancelled).to.include({ id, status: 'cancelled', background: true })
      expect(await by().responses.cancel(id)).to.deep.equal(cancelled)
      const [row] = await rows('client_closed')
      expect(row).to.include({ status: 499, estimated: 1 })
      expect(row!.input_tokens).to.be.greaterThan(0)
      for (const each of [one, two]) expect(await read(each, id)).to.deep.equal(cancelled)
    })
  }

  it('is left by its upstream although it is deleted elsewhere as soon as it is cancelled', async () => {
    const asked = upstream.reply(wholeAfter(hold(), 'chat', 'Thought'))
    const { id } = await begin()
    await asked
    await other.responses.cancel(id)
    await other.responses.delete(id)
    expect(await rows('client_closed')).to.have.length(1)
    for (const each of [one, two]) expect((await each.fetch(`/v1/responses/${id}`, { key: one.liveKey })).status).to.equal(404)
  })

  it('fails in words if its answer is too large to be kept', async () => {
    upstream.reply(json(UPSTREAMS.chat.whole('x'.repeat(7_000_000))))
    const { id } = await begin()
    const { status, error } = await ended(client, id)
    expect([status, error?.code]).to.deep.equal(['failed', 'upstream_invalid_response'])
  })

  it('ends the streams of all who read it when it is cancelled', async () => {
    upstream.reply(streamUntil(hold(), 'native', 'Thought'))
    const stream = (await begin({ model: 'native/m', stream: true })) as unknown as AsyncIterable<never>
    let id = ''
    for await (const event of stream as AsyncIterable<{ type: string; response: Response }>) {
      id = event.response.id
      break
    }
    const readers = await Promise.all([client, other].map((each) => each.responses.retrieve(id, { stream: true })))
    const read = Promise.all(readers.map(allOf))
    await other.responses.cancel(id)
    for (const events of await read)
      expect(events.at(-1)).to.deep.include({ type: 'response.cancelled', sequence_number: events.length - 1 })
  })

  it('has one end if it is cancelled while it completes', async () => {
    const ends = new Set<string>()
    for (let count = 0; count < 10; count++) {
      const gate = hold()
      upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
      const { id } = await begin()
      await gate.reached
      gate.release()
      const [first, second] = await Promise.all([client.responses.cancel(id), other.responses.cancel(id)])
      expect(first).to.deep.equal(second)
      for (const each of [one, two]) expect(await read(each, id)).to.deep.equal(first)
      ends.add(String(first.status))
    }
    for (const end of ends) expect(end).to.be.oneOf(['completed', 'cancelled'])
  })

  it('is not cancelled if it was not in the background, or is unknown', async () => {
    upstream.reply(json(UPSTREAMS.chat.whole('Thought')))
    const { id } = await client.responses.create({ model: 'chat/m', input: 'Think' })
    const refusal = (cancelled: Promise<unknown>) =>
      cancelled.then(
        () => undefined,
        ({ status, message }) => ({ status, message }),
      )
    expect(await refusal(client.responses.cancel(id))).to.deep.equal({
      status: 400,
      message: '400 Cannot cancel a synchronous response.',
    })
    expect(await refusal(client.responses.cancel('resp_AAAAAAAAAAAAAAAAAAAAAA'))).to.include({ status: 404 })
    const events = await one.fetch(`/v1/responses/${id}?stream=true`)
    expect(events.status).to.equal(400)
  })

  it('is read at another gateway while it is made', async () => {
    const gate = hold()
    upstream.reply(streamUntil(gate, 'chat', 'Thought'))
    const stream = (await begin({ stream: true })) as unknown as AsyncIterable<{ type: string; response: Response }>
    let id = ''
    for await (const event of stream) {
      id = event.response.id
      break
    }
    const read = allOf(await other.responses.retrieve(id, { stream: true, starting_after: 1 }))
    await gate.reached
    gate.release()
    const events = await read
    expect(events[0]!.sequence_number).to.equal(2)
    expect(events.at(-1)).to.include({ type: 'response.completed' })
    expect(await ended(other, id)).to.include({ status: 'completed' })
  })

  it('fails in words when its gateway stops before it has ended', async () => {
    const gate = hold()
    upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const { id } = await begin()
    await gate.reached
    const stopped = one.stop(100)
    const last = await ended(other, id)
    expect(last).to.include({ status: 'failed' })
    expect(last.error).to.include({ code: 'service_unavailable' })
    await stopped
  })

  it('is completed by a gateway that waits for it when it stops', async () => {
    const gate = hold()
    upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const { id } = await begin()
    await gate.reached
    const stopped = one.stop(30_000)
    gate.release()
    expect(await ended(other, id)).to.include({ status: 'completed', output_text: 'Thought' })
    await stopped
  })
})
