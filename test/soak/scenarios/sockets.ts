import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { json, type Script } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { startBackgroundClient } from '../background-client.ts'
import { bodyOf, callBytes } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { growth, idleResources } from '../resources.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'

const DESCRIPTORS = 256
const SLOWEST_MS = 5000
const MB = 1 << 20
const SMALL = json(openai.whole({ text: ['Hello!'] }))
const LARGE = json({ ...openai.whole({ text: ['Hello!'] }), padding: 'x'.repeat(40 * MB) })

/** What hostile clients do, for some seconds. */
interface Attack {
  readonly name: string
  run(sockets: HostileSockets, gateway: SoakedGateway): Promise<void>
}

const ATTACKS: readonly Attack[] = [
  {
    name: '1,500 slow heads',
    async run(sockets) {
      for (let round = 0; round < 8; round++) {
        await sockets.fill(1500, 'POST /v1/chat/completions HTTP/1.1\r\nhost: gateway\r\nx-slow: ')
        await delay(1000)
        sockets.write('x')
      }
    },
  },
  {
    name: '300 idle connections',
    async run(sockets) {
      for (let second = 0; second < 10; second++) {
        await sockets.fill(300, 'GET /livez HTTP/1.1\r\nhost: gateway\r\n\r\n')
        await delay(1000)
      }
    },
  },
  {
    name: '400 pipelined calls on each of 10 connections',
    async run(sockets, { keys }) {
      for (let second = 0; second < 10; second++) {
        await sockets.fill(10, callBytes(keys.few, bodyOf({ model: 'open/small' })).repeat(400))
        await delay(1000)
      }
    },
  },
  {
    name: '12 unread replies of 40 MB',
    async run(sockets, gateway) {
      await sockets.fill(12, callBytes(gateway.keys.few, bodyOf({ model: 'open/large' })))
      sockets.pause()
      await delay(5000)
      const calls = await gateway.metric('umg_requests_in_flight', 'namespace="open"')
      if (calls < 12) throw new Error(`only ${calls} replies are unread`)
      while ((await gateway.metric('umg_requests_in_flight', 'namespace="open"')) > 1) await delay(500)
    },
  },
]

/** Clients that hold connections, of a gateway with few descriptors: it lives on, and a client with another key notices nothing. */
export const sockets: Scenario = {
  name: 'sockets',
  seconds: 240,
  descriptors: DESCRIPTORS,
  async run({ gateway, open }, progress) {
    open.on((request): Script => ((request.json() as { readonly model: string }).model === 'large' ? LARGE : SMALL))
    const findings: Finding[] = []
    for (const { name, run } of ATTACKS) {
      progress(name)
      const before = await idleResources(gateway)
      const background = startBackgroundClient(gateway, 'open/small')
      const probes = startProbes(gateway)
      const hostile = new HostileSockets(gateway)
      const startedAt = performance.now()
      await run(hostile, gateway)
      const seconds = (performance.now() - startedAt) / 1000
      const failedProbes = await probes.stop()
      const slowest = await background.stop()
      hostile.close()
      const after = await idleResources(gateway)
      findings.push(
        atMost(SLOWEST_MS, 'ms', `${name}: the slowest call of another client, none of which fails`, slowest),
        exactly(0, `${name}: health checks that failed`, failedProbes),
        atMost(90, 's', `${name}: until it was over`, seconds),
        atMost(8, 'MB', `${name}: memory kept`, growth(before, after) / MB),
        atMost(2, '', `${name}: descriptors kept`, after.descriptors - before.descriptors),
      )
    }
    return [
      ...findings,
      exactly(0, 'calls in flight afterwards', await gateway.metric('umg_requests_in_flight')),
      exactly(0, 'attempts that lacked a descriptor', await gateway.metric('umg_shed_total', 'reason="descriptors"')),
    ]
  },
}

/** Connections whose clients want to hold them. */
class HostileSockets {
  readonly #port: number
  readonly #open = new Set<Socket>()

  constructor({ url }: SoakedGateway) {
    this.#port = Number(new URL(url).port)
  }

  /** Opens as many as are missing, 500 a second, and writes the same to each. Faster, this process would keep good clients from sending. */
  async fill(count: number, bytes: string): Promise<void> {
    for (let missing = count - this.#open.size; missing > 0; missing--) {
      if (missing % 5 === 0) await delay(10)
      const socket = connect(this.#port, '127.0.0.1')
      this.#open.add(socket)
      socket.on('error', () => {}).once('close', () => this.#open.delete(socket))
      // Replies are read unless `pause` is called.
      socket.resume().write(bytes)
    }
  }

  write(bytes: string): void {
    for (const socket of this.#open) socket.write(bytes)
  }

  pause(): void {
    for (const socket of this.#open) socket.pause()
  }

  close(): void {
    for (const socket of this.#open) socket.destroy()
  }
}

/** Checks the gateway's health on new connections, until `stop`, which resolves to the number of checks that failed. */
function startProbes({ url }: SoakedGateway): { stop(): Promise<number> } {
  let stopped = false
  let failed = 0
  const probing = (async () => {
    while (!stopped) {
      for (const path of ['livez', 'readyz']) {
        const status = await fetch(`${url}/${path}`, { headers: { connection: 'close' } }).then(
          (reply) => reply.status,
          () => 0,
        )
        if (status !== 200) failed++
      }
      await delay(200)
    }
  })()
  return {
    async stop() {
      stopped = true
      await probing
      return failed
    },
  }
}
