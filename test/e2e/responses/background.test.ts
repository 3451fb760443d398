import { expect } from 'chai'
import type OpenAI from 'openai'
import type { Response } from 'openai/resources/responses/responses'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import { revokeKey } from '../../../core/keys/keys.ts'
import { FIN, hold, json, type ScriptedUpstream, sse } from '../../../core/testing/kit.ts'
import type { TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import {
  allOf,
  ended,
  scriptedUpstream,
  startKeeping,
  streamUntil,
  UPSTREAMS,
  type UpstreamName,
  wholeAfter,
} from './background-fixture.ts'

const NAMES = Object.keys(UPSTREAMS) as UpstreamName[]

describe('Responses in the background', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: OpenAI

  before(async () => {
    upstream = await scriptedUpstream()
    gateway = await startKeeping(upstream)
    client = gateway.openai().withOptions({ maxRetries: 0 })
  })
  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  const ask = (model: string, more: object = {}): Promise<Response> =>
    client.responses.create({ model, input: 'Think', background: true, ...more } as never) as never
  const retrieve = (id: string): Promise<Response> => client.responses.retrieve(id) as Promise<Response>
  const row = (id: string) =>
    poll(
      () => gateway.store.db.selectFrom('calls').selectAll().where('id', '=', id).execute(),
      (rows) => rows.length > 0,
    ).then(([first]) => first!)

  for (const name of NAMES) {
    it(`are polled until they are complete, from an upstream of ${name}`, async () => {
      const gate = hold()
      const asked = upstream.reply(wholeAfter(gate, name, 'Thought'))
      const { data: first, response: head } = await client.responses
        .create({ model: `${name}/m`, input: 'Think', background: true, instructions: 'Be brief.' })
        .withResponse()
      expect(first).to.include({ status: 'queued', background: true, store: true, instructions: 'Be brief.', object: 'response' })
      expect(first.output).to.deep.equal([])
      expect((await asked).json()).not.to.have.property('background')
      await gate.reached
      await poll(
        () => retrieve(first.id),
        ({ status }) => status === 'in_progress',
      )
      gate.release()
      const last = await ended(client, first.id)
      expect(last).to.include({ id: first.id, status: 'completed', background: true, output_text: 'Thought' })
      const { outcome, status, input_tokens, output_tokens } = await row(head.headers.get('x-request-id')!)
      expect({ outcome, status }).to.deep.equal({ outcome: 'ok', status: 200 })
      expect(input_tokens).to.equal(last.usage!.input_tokens)
      expect(output_tokens).to.equal(last.usage!.output_tokens)
    })

    it(`are streamed, and resumed after any event, from an upstream of ${name}`, async () => {
      const gate = hold()
      upstream.reply(streamUntil(gate, name, 'Thought'))
      const stream = await client.responses.create({ model: `${name}/m`, input: 'Think', background: true, stream: true })
      const seen: { type: string; sequence_number: number; response?: Response }[] = []
      for await (const event of stream) {
        seen.push(event as never)
        // The client leaves in the middle.
        if (event.type === 'response.queued') break
      }
      const { id } = seen[0]!.response!
      expect(seen.map(({ type }) => type)).to.deep.equal(['response.created', 'response.queued'])
      const resumed = await client.responses.retrieve(id, { stream: true, starting_after: 0 })
      const whole = await client.responses.retrieve(id, { stream: true })
      gate.release()
      const [all, rest] = await Promise.all([allOf(whole), allOf(resumed)])
      expect(all.map(({ sequence_number }) => sequence_number)).to.deep.equal([...all.keys()])
      expect(rest).to.deep.equal(all.slice(1))
      expect(all.slice(0, 2)).to.deep.equal(seen)
      expect(all.at(-1)).to.include({ type: 'response.completed' })
      expect((all.at(-1) as { response: Response }).response).to.deep.equal(await plain(id))
      const text = all.flatMap((event) => (event.type === 'response.output_text.delta' ? [event.delta] : []))
      expect(text.join('')).to.equal('Thought')
      // All is kept: any number of clients read it again.
      expect(await allOf(await client.responses.retrieve(id, { stream: true, starting_after: 2 }))).to.deep.equal(all.slice(3))
    })
  }

  const plain = async (id: string) => (await gateway.fetch(`/v1/responses/${id}`)).json()

  it('are streamed to the end for a client that stays', async () => {
    upstream.reply(sse(UPSTREAMS.chat.events('Thought')))
    const stream = await client.responses.create({ model: 'chat/m', input: 'Think', background: true, stream: true })
    const events = await allOf(stream)
    expect(events.at(-1)).to.include({ type: 'response.completed', sequence_number: events.length - 1 })
  })

  it('go on when their client has left before its reply', async () => {
    const gate = hold()
    const asked = upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const { id } = await ask('chat/m')
    await asked
    gate.release()
    expect(await ended(client, id)).to.include({ status: 'completed' })
  })

  it('are gone on from, and their input is listed', async () => {
    upstream.reply(json(UPSTREAMS.chat.whole('One')))
    const { id } = await ask('chat/m', { input: 'First' })
    await ended(client, id)
    const asked = upstream.reply(json(UPSTREAMS.chat.whole('Two')))
    const second = await ask('chat/m', { input: 'Second', previous_response_id: id })
    expect(second.previous_response_id).to.equal(id)
    expect((await ended(client, second.id)).previous_response_id).to.equal(id)
    const { messages } = (await asked).json() as { messages: { content: string }[] }
    expect(messages.map(({ content }) => content)).to.deep.equal(['First', 'One', 'Second'])
  })

  it('are incomplete where the answer is', async () => {
    const { choices, ...completion } = UPSTREAMS.chat.whole('Tho') as { choices: object[] }
    upstream.reply(json({ ...completion, choices: choices.map((choice) => ({ ...choice, finish_reason: 'length' })) }))
    expect(await ended(client, (await ask('chat/m')).id)).to.deep.include({
      status: 'incomplete',
      incomplete_details: { reason: 'max_output_tokens' },
    })
  })

  it('fail in words when their upstream does, as their row says', async () => {
    const gate = hold()
    upstream.reply([gate, ...json({ error: { message: 'down' } }, { status: 500 })])
    const { data: first, response: head } = await client.responses
      .create({ model: 'chat/m', input: 'Think', background: true })
      .withResponse()
    gate.release()
    const last = await ended(client, first.id)
    expect(last).to.include({ status: 'failed', background: true })
    expect(last.error!.message).to.match(/upstream/)
    const { outcome, status, error } = await row(head.headers.get('x-request-id')!)
    expect({ outcome, status, error }).to.deep.equal({ outcome: 'upstream_error', status: 502, error: 'upstream_error' })
  })

  it('end a stream by a failure that breaks off, for each of its readers', async () => {
    const events = UPSTREAMS.native.events('Thought')
    upstream.reply(sse([...events.slice(0, 2), FIN]))
    const stream = await client.responses.create({ model: 'native/m', input: 'Think', background: true, stream: true })
    const seen = await allOf(stream)
    expect(seen.map(({ type }) => type)).to.deep.equal([
      'response.created',
      'response.queued',
      'response.output_text.delta',
      'response.failed',
    ])
    const { id } = (seen[0] as { response: Response }).response
    expect(await retrieve(id)).to.include({ status: 'failed' })
  })

  for (const { what, body, status, code } of [
    { what: 'of an unknown model', body: { model: 'chat2/m' }, status: 404, code: 'model_not_found' },
    { what: 'with an invalid member', body: { model: 'chat/m', input: 7 }, status: 400, code: 'invalid_type' },
    { what: 'that no upstream can serve', body: { model: 'chat/m', moderation: {} }, status: 400, code: 'unsupported_parameter' },
    { what: 'with store: false', body: { model: 'native/m', store: false }, status: 400, code: 'unsupported_parameter' },
  ]) {
    it(`are refused at once ${what}`, async () => {
      const before = upstream.requests.length
      const refused = await ask('chat/m', body).then(
        () => undefined,
        (error: unknown) => error as { status: number; code: string },
      )
      expect(refused).to.include({ status, code })
      expect(upstream.requests).to.have.length(before)
    })
  }

  it('are nothing to another account', async () => {
    const gate = hold()
    upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const { id } = await ask('chat/m')
    const { id: account } = await createAccount(gateway.store, { name: 'Other', models: ['*'], rateClass: null }, GATEWAY)
    const key = await gateway.key({ account })
    for (const [path, method] of [
      [`/v1/responses/${id}`, 'GET'],
      [`/v1/responses/${id}?stream=true`, 'GET'],
      [`/v1/responses/${id}/cancel`, 'POST'],
      [`/v1/responses/${id}`, 'DELETE'],
    ] as const) {
      const reply = await gateway.fetch(path, { method, key })
      expect(reply.status, `${method} ${path}`).to.equal(404)
      expect(((await reply.json()) as { error: object }).error).to.include({ code: 'response_not_found' })
    }
    gate.release()
    expect(await ended(client, id)).to.include({ status: 'completed' })
  })

  it('end for a client whose key was revoked meanwhile, which cannot ask for them', async () => {
    const gate = hold()
    upstream.reply(wholeAfter(gate, 'chat', 'Thought'))
    const key = await gateway.key({ name: 'short' })
    const created = await gateway.fetch('/v1/responses', { key, json: { model: 'chat/m', input: 'Think', background: true } })
    const { id } = (await created.json()) as Response
    const { id: keyId } = await gateway.store.db
      .selectFrom('keys')
      .select('id')
      .where('name', '=', 'short')
      .executeTakeFirstOrThrow()
    await revokeKey(gateway.store, keyId)
    await poll(
      () => gateway.fetch(`/v1/responses/${id}`, { key }),
      ({ status }) => status === 401,
    )
    gate.release()
    expect(await ended(client, id)).to.include({ status: 'completed' })
  })

  it('are deleted with their events, once they have ended', async () => {
    const gate = hold()
    upstream.reply(streamUntil(gate, 'chat', 'Thought'))
    const stream = await client.responses.create({ model: 'chat/m', input: 'Think', background: true, stream: true })
    let id = ''
    for await (const event of stream) {
      if (event.type === 'response.created') id = event.response.id
      if (event.type === 'response.in_progress') break
    }
    const early = await gateway.fetch(`/v1/responses/${id}`, { method: 'DELETE' })
    expect(early.status).to.equal(409)
    gate.release()
    await ended(client, id)
    await client.responses.delete(id)
    expect((await gateway.fetch(`/v1/responses/${id}?stream=true`)).status).to.equal(404)
  })
})
