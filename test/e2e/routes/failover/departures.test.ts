import { once } from 'node:events'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { expect } from 'chai'
import { hold, json, sse } from '../../../../core/testing/kit.ts'
import { openai } from '../../sdk/openai-dialect.ts'
import { post } from '../../upstream-faults/assertions.ts'
import { cleanReply, hitsSince } from './assertions.ts'
import { call, healthOf, leave, untilHealth, untilInFlight } from './client.ts'
import { type FailoverFixture, startFailover } from './fixture.ts'

const limited = { limit: 1, wait: '1m' }

describe('A client that disconnects', () => {
  let deaf: Server
  let fixture: FailoverFixture

  before(async () => {
    // Takes connections and never shakes hands.
    deaf = createServer()
    await once(deaf.listen(0, '127.0.0.1'), 'listening')
    const { port } = deaf.address() as AddressInfo
    const duo = (model: string) => ({ models: { m: { targets: [{ model }], fallbacks: ['open-second/m'] } } })
    fixture = await startFailover({
      times: { heartbeat: 30 },
      others: ({ first }) => ({
        deaf: { provider: 'openai-compatible', config: { baseUrl: `https://127.0.0.1:${port}/v1` } },
        narrow: { provider: 'openai-compatible', config: { baseUrl: `${first}/v1` }, concurrency: limited },
        queued: duo('narrow/m'),
        connecting: duo('deaf/m'),
        asking: duo('open-first/m'),
        pausing: { models: { m: { targets: [{ model: 'open-first/tired' }], retry: { attempts: 2 } } } },
      }),
    })
  })
  after(async () => {
    await fixture?.stop()
    deaf?.close()
  })

  /** Nothing of it is left: no call, no try at a target, no further one. */
  async function expectNothingLeft(target: string, asked: () => number[], hits: readonly number[]): Promise<void> {
    expect(asked()).to.deep.equal(hits)
    expect(await fixture.gateway.metric('umg_requests_in_flight')).to.equal(0)
    expect(await healthOf(fixture, target)).to.contain(' 0 under way')
  }

  for (const stream of [false, true]) {
    describe(stream ? 'a stream' : 'a whole reply', () => {
      it('while queued leaves the queue', async () => {
        const { first, second } = fixture
        const asked = hitsSince(first, second)
        const door = hold()
        first.on(() => [door, ...cleanReply(openai, false)])
        const occupying = call(fixture, { model: 'narrow/other' })
        await door.reached
        await leave(fixture, { model: 'queued/m', stream }, () => untilInFlight(fixture, 'queued', 1))
        const next = call(fixture, { model: 'narrow/other' })
        await untilInFlight(fixture, 'narrow', 2)
        door.release()
        expect([(await occupying).status, (await next).status]).to.deep.equal([200, 200])
        await expectNothingLeft('narrow/m', asked, [2, 0])
      })

      it('during the pause before a retry ends the pause', async () => {
        const { first, second } = fixture
        const asked = hitsSince(first, second)
        first.on(() => json(openai.error(429, 'No.'), { status: 429, headers: { 'retry-after': '50' } }))
        await leave(fixture, { model: 'pausing/m', stream }, () =>
          untilHealth(fixture, 'open-first/tired', /cooling down.* 0 under way/),
        )
        await expectNothingLeft('open-first/tired', asked, [1, 0])
      })

      it('while the first target is being connected closes that connection', async () => {
        const { first, second } = fixture
        const asked = hitsSince(first, second)
        const connected = once(deaf, 'connection') as Promise<[Socket]>
        await leave(fixture, { model: 'connecting/m', stream }, () => connected)
        const [socket] = await connected
        socket.resume()
        if (!socket.closed)
          await once(
            socket.on('error', () => {}),
            'close',
          )
        await expectNothingLeft('deaf/m', asked, [0, 0])
      })

      it('before the first target replies closes its request, and the second is not called', async () => {
        const { first, second } = fixture
        const asked = hitsSince(first, second)
        const stall = hold()
        first.on(() => [stall])
        await leave(fixture, { model: 'asking/m', stream }, () => stall.reached)
        await first.requests.at(-1)!.closed
        await expectNothingLeft('open-first/m', asked, [1, 0])
      })
    })
  }

  it('while a stream is held closes the first request, and the second target is not called', async () => {
    const { first, second } = fixture
    const asked = hitsSince(first, second)
    const stall = hold()
    first.on(() => sse([openai.events({})[0]!, stall]))
    await leave(fixture, { model: 'asking/m', stream: true }, () => stall.reached)
    await first.requests.at(-1)!.closed
    await expectNothingLeft('open-first/m', asked, [1, 0])
  })

  it('after heartbeats of a held stream does so too', async () => {
    const { gateway, first, second } = fixture
    const asked = hitsSince(first, second)
    first.on(() => sse([openai.events({})[0]!, hold()]))
    const reply = await post(fixture, { dialect: openai, stream: true }, { model: 'asking/m' })
    await reply.until(/: keep-alive/)
    reply.leave()
    await first.requests.at(-1)!.closed
    const line = await gateway.logged(({ id }) => id === reply.headers['x-request-id'])
    expect(line).to.include({ status: 499, outcome: 'client_closed' })
    await expectNothingLeft('open-first/m', asked, [1, 0])
  })

  it('while the second target is called closes its request', async () => {
    const { first, second } = fixture
    const asked = hitsSince(first, second)
    const stall = hold()
    first.on(() => json(openai.error(500, 'No.'), { status: 500 }))
    second.on(() => [stall])
    await leave(fixture, { model: 'asking/m', stream: true }, () => stall.reached)
    await second.requests.at(-1)!.closed
    await expectNothingLeft('open-second/m', asked, [1, 1])
  })
})
