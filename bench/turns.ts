import { Agent, request } from 'node:http'
import { WebSocket } from 'ws'
import { CHAT, MESSAGES, RESPONSES, type UpstreamApi } from './apis.ts'
import { cpuBetween, cpuSnapshot } from './cpu.ts'
import type { Place } from './place.ts'
import { SHORT_CHAT } from './requests.ts'
import { type Subject, startGateway } from './subjects.ts'

/** What a turn costs the gateway on a socket that is open, and the same call by HTTP on a connection that is. Microseconds of processor time. */
export interface TurnCost {
  readonly upstream: string
  /** In each round. */
  readonly socket: readonly number[]
  readonly http: readonly number[]
}

/** By what the upstream speaks: the client's own protocol, or one that is translated. */
const UPSTREAMS: readonly (readonly [name: string, api: UpstreamApi])[] = [
  ['responses', RESPONSES],
  ['messages', MESSAGES],
  ['chat', CHAT],
]

const CONNECTIONS = 16
/** Of each connection, in one round. */
const CALLS = 40
const ROUNDS = 7
/** Until V8 has compiled what runs. */
const WARM_UP_ROUNDS = 4

/** What makes calls on connections of its own, all at once. Resolves when they have ended. */
type Client = (calls: number) => Promise<void>

/** Starts a gateway, and measures turns on sockets beside calls by HTTP. */
export async function measureTurns(
  place: Place,
  upstream: number,
  progress: (message: string) => void,
): Promise<readonly TurnCost[]> {
  const { subject, service } = await startGateway(place, upstream, { name: 'turns' })
  const costs: TurnCost[] = []
  for (const [name, api] of UPSTREAMS) {
    progress(`turns: ${name}`)
    const { model } = subject.asks(api, 'responses')
    const body = JSON.stringify({ model, input: SHORT_CHAT, max_output_tokens: 512, store: false })
    await using socket = await socketClient(subject, body)
    using http = httpClient(subject, body)
    for (let round = 0; round < WARM_UP_ROUNDS; round++) for (const client of [socket, http]) await client.ask(CALLS)
    const cost = { upstream: name, socket: [] as number[], http: [] as number[] }
    for (let round = 0; round < ROUNDS; round++) {
      cost.socket.push(await costOf(subject.pid!, socket.ask))
      cost.http.push(await costOf(subject.pid!, http.ask))
    }
    costs.push(cost)
  }
  service.pause()
  return costs
}

async function costOf(pid: number, ask: Client): Promise<number> {
  const start = cpuSnapshot(pid)
  await ask(CALLS)
  return cpuBetween(start, cpuSnapshot(pid)).used / 1000 / (CALLS * CONNECTIONS)
}

async function socketClient({ port, key }: Subject, body: string): Promise<AsyncDisposable & { readonly ask: Client }> {
  const message = `{"type":"response.create",${body.slice(1)}`
  const sockets = Array.from(
    { length: CONNECTIONS },
    () =>
      new WebSocket(`ws://127.0.0.1:${port}/v1/responses`, {
        headers: { authorization: `Bearer ${key}` },
        perMessageDeflate: false,
      }),
  )
  await Promise.all(sockets.map((socket) => new Promise((resolve) => socket.once('open', resolve))))
  const turn = (socket: WebSocket) =>
    new Promise<void>((resolve, reject) => {
      socket.on('message', function read(data: Buffer) {
        const isEnd = data.includes('"response.completed"')
        if (!isEnd && !data.includes('"type":"error"')) return
        socket.off('message', read)
        if (isEnd) resolve()
        else reject(new Error(data.toString()))
      })
      socket.send(message)
    })
  return {
    ask: async (calls) => {
      await Promise.all(
        sockets.map(async (socket) => {
          for (let call = 0; call < calls; call++) await turn(socket)
        }),
      )
    },
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.close()
    },
  }
}

function httpClient({ port, key }: Subject, body: string): Disposable & { readonly ask: Client } {
  const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS })
  const streamed = `{"stream":true,${body.slice(1)}`
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(streamed),
  }
  const call = () =>
    new Promise<void>((resolve, reject) => {
      const asked = request({ agent, host: '127.0.0.1', port, path: '/v1/responses', method: 'POST', headers }, (reply) => {
        if (reply.statusCode !== 200) reject(new Error(`status ${reply.statusCode}`))
        reply.resume().once('end', resolve)
      })
      asked.on('error', reject).end(streamed)
    })
  return {
    ask: async (calls) => {
      const connections = Array.from({ length: CONNECTIONS }, async () => {
        for (let made = 0; made < calls; made++) await call()
      })
      await Promise.all(connections)
    },
    [Symbol.dispose]: () => agent.destroy(),
  }
}
