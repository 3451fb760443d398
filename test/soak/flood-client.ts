import { fork } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { constants, setPriority } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { createClient } from './client.ts'
import type { SoakedGateway } from './fixture.ts'

/** The bodies of a flood: of 30 MB, or of 49,000 messages. */
export type FloodBody = 'large' | 'dense'

/** Calls with large bodies, all at once. */
export interface Flood {
  readonly count: number
  readonly key: string
  readonly model: string
  readonly body: FloodBody
  /** Milliseconds: half of each body is sent, and its connection is closed after this time. Absent: they are sent whole. */
  readonly incompleteMs?: number
}

/** The replies to a flood, by their status; none if its bodies are incomplete. */
export type FloodReplies = Readonly<Record<number, number>>

/** A client that floods a gateway. */
export interface FloodClient {
  send(flood: Flood): Promise<FloodReplies>
  stop(): void
}

const MB = 1 << 20
const PATH = fileURLToPath(import.meta.url)

/** In a process of low priority: clients of a flood run on other machines, here they get what the gateway and other clients leave. */
export function startFloodClient({ url }: Pick<SoakedGateway, 'url'>): FloodClient {
  const child = fork(PATH, [url], { execArgv: [] })
  return {
    async send(flood) {
      child.send(flood)
      const [replies] = (await once(child, 'message')) as [FloodReplies]
      return replies
    },
    stop: () => child.disconnect(),
  }
}

const messages = (model: string, content: string, count: number): Buffer =>
  Buffer.from(
    `{"model":"${model}","max_tokens":5,"messages":[${Array(count).fill(`{"role":"user","content":"${content}"}`).join()}]}`,
  )

const TEXT = 'Hello, world! '.repeat(500)

const BODIES: Readonly<Record<FloodBody, (model: string) => Buffer>> = {
  large: (model) => messages(model, TEXT, Math.floor((30 * MB) / (TEXT.length + 30))),
  dense: (model) => messages(model, 'Hello!', 49_000),
}

async function sendWhole(url: string, { count, key }: Flood, body: Buffer): Promise<FloodReplies> {
  const client = createClient({ url }, key)
  const statuses = await Promise.all(Array.from({ length: count }, () => client.call(body).then(({ status }) => status)))
  client.close()
  const replies: Record<number, number> = {}
  for (const status of statuses) replies[status] = (replies[status] ?? 0) + 1
  return replies
}

async function sendHalf(url: string, { count, key, incompleteMs }: Flood, body: Buffer): Promise<FloodReplies> {
  const { hostname, port } = new URL(url)
  const lines = ['POST /v1/chat/completions HTTP/1.1', 'host: gateway', `authorization: Bearer ${key}`]
  const head = [...lines, 'content-type: application/json', `content-length: ${body.length}`, '', ''].join('\r\n')
  const sockets: Socket[] = []
  for (let i = 0; i < count; i++) {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    socket.write(head)
    socket.write(body.subarray(0, body.length / 2))
    sockets.push(socket)
  }
  await delay(incompleteMs)
  for (const socket of sockets) socket.destroy()
  return {}
}

if (process.argv[1] === PATH) {
  setPriority(constants.priority.PRIORITY_LOW)
  const url = process.argv[2]!
  process.on('message', async (flood: Flood) => {
    const body = BODIES[flood.body](flood.model)
    process.send!(await (flood.incompleteMs === undefined ? sendWhole : sendHalf)(url, flood, body))
  })
}
