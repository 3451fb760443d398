import { once } from 'node:events'
import { join } from 'node:path'
import { expect } from 'chai'
import type { LinkRecord } from '../../../core/sdk/api.ts'
import type { Schema } from '../../../core/store/schema.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../../core/testing/kit.ts'
import type { CallView } from '../../../core/usage/calls.ts'
import { makeOldDatabase, migrationsTo } from '../../core/store/old-database.ts'
import { callRowOf } from '../../core/usage/outcome.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { startTestGateway, type TestGateway } from '../../support/gateway.ts'
import { poll } from '../../support/poll.ts'
import { ask, hello } from '../plugins/openai-wire.ts'
import { strangers } from '../plugins/stranger-files.ts'
import { type ApiClient, adminClient } from './api-client.ts'

/** Milliseconds that the slow link takes before `next`, and again after it. */
const SLOW_MS = 15
/** The timeout of a link. */
const LIMIT_MS = 1000

const CHAIN = [
  { plugin: 'auth' },
  { plugin: './slow.ts', config: { inMs: SLOW_MS, outMs: SLOW_MS } },
  { plugin: './answerer.ts', when: { namespaces: ['own'] } },
  { plugin: './unruly.ts', when: { namespaces: ['faulty'] } },
  { plugin: './gate.ts' },
]

/** A row from before migration 0004. */
const {
  links: _,
  cost: __,
  saved: _______,
  currency: ___,
  price: ____,
  alias: _____,
  trace_id: ______,
  ...OLD_CALL
} = callRowOf()

const namesOf = (links: readonly LinkRecord[]) => links.map(({ name }) => name)
const sumOf = (parts: readonly { readonly ms: number }[]) => parts.reduce((sum, { ms }) => sum + ms, 0)

onEachDatabase('the time of links in the row of a call', (create) => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let client: ApiClient

  before(async () => {
    upstream = await scriptedUpstream()
    upstream.on(hello)
    const database = await create()
    await makeOldDatabase<Schema>(database, {
      migrations: migrationsTo('0003-calls'),
      fill: (db) =>
        db
          .insertInto('calls')
          .values(OLD_CALL as never)
          .execute(),
    })
    const up = { provider: 'openai-compatible', config: { baseUrl: `${upstream.origin}/v1` } }
    gateway = await startTestGateway({
      database,
      routes: { chain: CHAIN, namespaces: { up, own: up, faulty: up } },
      files: strangers('slow.ts', 'answerer.ts', 'unruly.ts', 'gate.ts'),
      times: { link: LIMIT_MS },
    })
    client = await adminClient(gateway)
  })

  after(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function rowOfCall(id: string): Promise<CallView> {
    await gateway.logged((line) => line.id === id)
    return (await client.get(`/requests/${id}`)).json as CallView
  }

  async function call(body: object, init: Parameters<TestGateway['fetch']>[1] = {}): Promise<CallView> {
    const reply = await gateway.fetch('/v1/chat/completions', { json: ask(body), ...init })
    await reply.text()
    return rowOfCall(reply.headers.get('x-request-id')!)
  }

  for (const stream of [false, true])
    it(`is recorded for ${stream ? 'a stream' : 'a non-stream reply'}, link by link, in the order of the chain`, async () => {
      const { links, ms } = await call({ stream })
      expect(namesOf(links)).to.deep.equal(['auth', 'slow', 'gate'])
      expect(links[1]!.ms).to.be.at.least(2 * SLOW_MS)
      // If the time of a link included that of later links, auth's time would include that of the slow link.
      expect(sumOf(links)).to.be.below(ms.total)
    })

  it('excludes the time of the attempts', async () => {
    const { links, attempts, ms } = await call({})
    expect(sumOf(links) + sumOf(attempts)).to.be.below(ms.total)
  })

  it('is absent for a link that was not reached', async () => {
    const { links } = await call({}, { key: 'sk-live-000000000000000000000000000000000000' })
    expect(namesOf(links)).to.deep.equal(['auth'])
    const { links: own } = await call({ model: 'own/m' })
    expect(namesOf(own)).to.deep.equal(['auth', 'slow', 'answerer'])
    expect(namesOf(own.filter(({ answered }) => answered))).to.deep.equal(['answerer'])
  })

  it('is recorded for a link that throws', async () => {
    const { links, status } = await call({ model: 'faulty/m' }, { headers: { 'x-deed': 'throws an Error at once' } })
    expect([status, namesOf(links)]).to.deep.equal([500, ['auth', 'slow', 'unruly']])
  })

  it('is recorded for a link that hangs, up to its timeout', async () => {
    const { links } = await call({ model: 'faulty/m' }, { headers: { 'x-deed': 'hangs' } })
    expect(links[2]?.name).to.equal('unruly')
    expect(links[2]?.ms).to.be.at.least(LIMIT_MS)
  })

  it('is recorded for a link during which the client left', async () => {
    const { gate } = (await import(join(gateway.folder, 'gate.ts'))) as typeof import('../plugins/strangers/gate.ts')
    const client = new AbortController()
    const arrived = once(gate, 'arrived')
    const init = { json: ask(), headers: { 'x-wait': 'yes' }, signal: client.signal }
    const reply = gateway.fetch('/v1/chat/completions', init)
    const [id] = (await arrived) as [string]
    client.abort()
    await reply.catch(() => undefined)
    const { links, status } = await rowOfCall(id)
    gate.emit('go')
    expect([status, namesOf(links)]).to.deep.equal([499, ['auth', 'slow', 'gate']])
  })

  it('is recorded for a list of models', async () => {
    const reply = await gateway.fetch('/v1/models')
    await reply.text()
    const { links } = await rowOfCall(reply.headers.get('x-request-id')!)
    expect(namesOf(links)).to.deep.equal(['auth', 'slow', 'gate'])
  })

  it('is told the same once it is written', async () => {
    const told = await call({})
    const list = async () => ((await client.get('/requests')).json as { data: CallView[] }).data
    const written = await poll(list, (all) => all.some(({ id }) => id === told.id))
    expect(written.find(({ id }) => id === told.id)).to.deep.equal(told)
  })

  it('is not known of calls from before it was kept', async () => {
    const { id, links, attempts } = (await client.get(`/requests/${OLD_CALL.id}`)).json as CallView
    expect([id, links, attempts.length]).to.deep.equal([OLD_CALL.id, [], 1])
  })
})
