import { setImmediate as turn } from 'node:timers/promises'
import { expect } from 'chai'
import { DONE, hold, sse } from '../../../core/testing/kit.ts'
import { CHUNKS, type Fixture, GOOD_BODY, startFixture } from '../client-faults/fixture.ts'

/** Statuses of paths that are served in an overload too. */
const SERVED = { '/livez': 200, '/readyz': 200, '/metrics': 200, '/console': 200 }

const STREAMED = GOOD_BODY.replace('{', '{"stream":true,')

describe('An overloaded process', () => {
  let fixture: Fixture | undefined

  afterEach(() => fixture?.stop())

  async function status(path = '/v1/chat/completions', body?: string): Promise<number> {
    const init = body === undefined ? {} : { method: 'POST', body, headers: { 'content-type': 'application/json' } }
    const reply = await fixture!.gateway.fetch(path, init)
    await reply.text()
    return reply.status
  }

  async function expectOperatorsServed(): Promise<void> {
    for (const [path, expected] of Object.entries(SERVED)) expect(await status(path), path).to.equal(expected)
  }

  it('refuses new calls while its heap is nearly full, and serves operators', async () => {
    fixture = await startFixture({ admission: { heap: 1 } })
    while ((await status(undefined, GOOD_BODY)) !== 503);
    expect(await status('/v1/models')).to.equal(503)
    const reply = await fixture.gateway.fetch('/v1/models')
    expect(reply.headers.get('retry-after')).to.equal('1')
    expect(((await reply.json()) as { error: { code: string } }).error.code).to.equal('gateway_overloaded')
    expect(await fixture.gateway.metric('umg_shed_total', { reason: 'heap' })).to.be.at.least(3)
    await expectOperatorsServed()
  })

  it('refuses new calls while its event loop is late, finishes the others, and recovers', async () => {
    fixture = await startFixture({ admission: { lag: 5 } })
    const going = hold()
    fixture.upstream.reply(sse([...CHUNKS.slice(0, 2), going, ...CHUNKS.slice(2), DONE]))
    const connection = await fixture.connect()
    connection.write(fixture.call({ body: STREAMED }))
    await connection.until('Hi!')

    let isLate = true
    const holdUp = async (): Promise<void> => {
      while (isLate) {
        await turn()
        busyFor(15)
      }
    }
    const late = holdUp()
    try {
      while ((await status(undefined, GOOD_BODY)) !== 503);
      expect(await fixture.gateway.metric('umg_shed_total', { reason: 'event_loop' })).to.be.at.least(1)
      await expectOperatorsServed()
      going.release()
      await connection.until('[DONE]')
    } finally {
      isLate = false
      await late
    }
    while ((await status(undefined, GOOD_BODY)) !== 200);
  })

  it('is no process that has just started, however slow its start was', async () => {
    fixture = await startFixture({
      admission: { lag: 5 },
      chain: [{ plugin: 'auth' }, { plugin: './slow-start.ts' }],
      files: { 'slow-start.ts': SLOW_START },
    })
    expect(await status(undefined, GOOD_BODY)).to.equal(200)
  })
})

/** A link whose creation holds up the event loop for longer than two samples take. */
const SLOW_START = `
import { setImmediate as turn } from 'node:timers/promises'
import { defineChain, Type } from 'unified-model-gateway/plugin'
export default defineChain({
  apiVersion: 1,
  name: 'slow-start',
  schema: Type.Object({}),
  async create() {
    const until = performance.now() + 1500
    while (performance.now() < until) {
      const soon = performance.now() + 15
      while (performance.now() < soon);
      await turn()
    }
    return { handle: (ctx, next) => next() }
  },
})
`

function busyFor(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}
