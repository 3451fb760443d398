import { expect } from 'chai'
import {
  chunk,
  type Hold,
  head,
  hold,
  openaiReply,
  type ScriptedUpstream,
  type Step,
  scriptedUpstream,
  sse,
} from '../../../core/testing/kit.ts'
import { startTestGateway, type TestGateway, type TestGatewayOptions } from '../../support/gateway.ts'
import { Home, type Umg } from '../lifecycle/umg.ts'
import { Cluster } from '../processes/cluster.ts'
import { connect, refused, type SocketClient } from './socket-client.ts'

const { stream: STREAM } = openaiReply({ text: 'Hello' })
const ASKED = { model: 'up/m', input: 'Hi', store: false }
/** Events of 64 KiB, far more than the buffers of four sockets hold. */
const ENDLESS = 1024
const CREATE = { type: 'response.create', ...ASKED }

const routes = (origin: string, plugin = 'auth') => ({
  chain: [{ plugin }],
  namespaces: { up: { provider: 'openai-compatible', breaker: false, config: { baseUrl: `${origin}/v1` } } },
})

describe('a socket', () => {
  let upstream: ScriptedUpstream
  let gateway: TestGateway
  let stalled: Hold

  beforeEach(async () => {
    upstream = await scriptedUpstream()
    upstream.on(() => sse(STREAM))
    stalled = hold()
  })
  afterEach(async () => {
    await gateway?.stop()
    await upstream?.close()
  })

  async function start(options: Partial<TestGatewayOptions> = {}): Promise<SocketClient> {
    gateway = await startTestGateway({ routes: routes(upstream.origin), ...options })
    return connect(gateway)
  }

  /** A turn under way, of which the first events have arrived. */
  async function begin(socket: SocketClient): Promise<void> {
    upstream.reply(sse([...STREAM.slice(0, 2), stalled, ...STREAM.slice(2)]))
    socket.send(CREATE)
    await socket.next()
  }

  it('stays open over a reload: later turns are served by the new routing table', async () => {
    const socket = await start()
    await begin(socket)
    await gateway.reload()
    stalled.release()
    expect((await socket.end()).type).to.equal('response.completed')
    expect((await socket.turn(ASKED)).type).to.equal('response.completed')
    await socket.close()
  })

  it('is closed with 1012 at the shutdown: at once if it is idle, else after its turn', async () => {
    const idle = await start()
    const busy = await connect(gateway)
    await begin(busy)
    busy.send({ ...CREATE, input: 'waits' })
    const stopped = gateway.stop(10_000)
    expect(await idle.closed).to.include({ code: 1012 })
    stalled.release()
    expect((await busy.end()).type).to.equal('response.completed')
    expect(await busy.closed).to.include({ code: 1012 })
    await stopped
  })

  it('ends with an error event if its turn lasts longer than the shutdown may', async () => {
    const socket = await start()
    await begin(socket)
    const stopped = gateway.stop(50)
    const error = await socket.next(({ type }) => type === 'error')
    expect(error).to.include({ status: 503, code: 'service_unavailable' })
    expect(await socket.closed).to.include({ code: 1012 })
    await stopped
  })

  it('ends after its time, with an event that says so', async () => {
    const socket = await start({ times: { socket: 1 } })
    const error = await socket.next()
    expect(error.error).to.include({ code: 'websocket_connection_limit_reached' })
    expect(await socket.closed).to.include({ code: 1000 })
  })

  it('is pinged, and lost if its client does not answer', async () => {
    const pinged = await start({ times: { ping: 100 } })
    await new Promise((resolve) => pinged.ws.once('ping', resolve))
    const silent = await connect(gateway, { autoPong: false })
    expect(await silent.closed).to.include({ code: 1006 })
    await pinged.close()
  }).timeout(20_000)

  it('pauses the upstream while its client does not read, and is closed after a time', async () => {
    const socket = await start({ times: { writeStall: 100 } })
    const [first, event] = openaiReply({ text: 'x'.repeat(64 * 1024) }, 1).stream
    let sent = 0
    upstream.reply(
      (function* (): Generator<Step> {
        yield head(200, { 'content-type': 'text/event-stream', 'transfer-encoding': 'chunked' })
        yield chunk(first!)
        for (; sent < ENDLESS; sent++) yield chunk(event!)
      })(),
    )
    socket.ws.pause()
    socket.send(CREATE)
    const line = await gateway.logged(({ outcome }) => outcome === 'client_closed')
    expect(line).to.include({ endpoint: 'responses' })
    expect(sent).to.be.within(1, ENDLESS / 2)
  }).timeout(30_000)

  it('is not opened at the listener of operators', async () => {
    await (await start({ adminListen: true })).close()
    const { status } = await refused({ url: gateway.adminUrl, liveKey: gateway.liveKey })
    expect(status).to.equal(426)
  })
})

describe('sockets of several processes', () => {
  let cluster: Cluster | undefined
  let home: Home | undefined
  let umg: Umg | undefined

  afterEach(async () => {
    await cluster?.stop()
    umg?.signal('SIGKILL')
    await home?.remove()
    cluster = home = umg = undefined
  })

  const ASK = { model: 'sandbox/hello', input: 'Hi', store: false }

  it('are served by all, and opened again where a process has ended', async () => {
    cluster = await Cluster.start()
    const gateway = { url: cluster.url, liveKey: cluster.secret }
    const sockets = await Promise.all(Array.from({ length: 4 }, () => connect(gateway)))
    for (const socket of sockets) expect((await socket.turn(ASK)).type).to.equal('response.completed')
    await cluster.crash('proxy-1')
    const lost = sockets.filter(({ ws }) => ws.readyState !== ws.OPEN)
    expect(lost.length).to.be.within(0, 2)
    await cluster.whole()
    const again = await connect(gateway)
    expect((await again.turn(ASK)).type).to.equal('response.completed')
    for (const socket of [...sockets, again]) socket.ws.terminate()
  }).timeout(60_000)

  it('are 426 with --websockets off', async () => {
    home = await Home.create({
      'routes.yaml': `version: 1\nchain: [{ plugin: auth }]\nnamespaces: { sandbox: { provider: sandbox } }\n`,
    })
    const started = await home.start('--websockets', 'off')
    umg = started.umg
    expect((await refused({ url: started.url, liveKey: 'sk-test-x' })).status).to.equal(426)
  }).timeout(60_000)
})
