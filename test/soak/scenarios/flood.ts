import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'
import { createClient } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { startSteadyClient } from '../steady-client.ts'

const CALLS = 200
/** Bytes. */
const LARGE = 30 << 20
const MB = 1 << 20

const HEAP_MB = 512
const MOST_MB = 1200
const LATEST_MS = 100
/** How long incomplete bodies stay. */
const INCOMPLETE_MS = 5000

const TABLE = `version: 1
chain:
  - plugin: auth
  - plugin: rate-tagging
    config: { classes: { many: { requests: 100M/min }, few: { tokens: 100000M/min } }, default: many }
namespaces:
  passed: { provider: openai-compatible, config: { baseUrl: "\${env:SOAK_SINK}/v1" } }
  translated: { provider: anthropic, config: { baseUrl: "\${env:SOAK_SINK}", apiKey: "\${env:SOAK_KEY}" } }
  sandbox: { provider: sandbox }
`

const messages = (model: string, content: string, count: number): Buffer =>
  Buffer.from(
    `{"model":"${model}","max_tokens":5,"messages":[${Array(count).fill(`{"role":"user","content":"${content}"}`).join()}]}`,
  )

const TEXT = 'Hello, world! '.repeat(500)
const large = (model: string): Buffer => messages(model, TEXT, Math.floor(LARGE / (TEXT.length + 30)))
const dense = (model: string): Buffer => messages(model, 'Hello!', 49_000)

/** Many calls at once. */
interface Wave {
  readonly name: string
  readonly key: 'few' | 'test'
  readonly body: Buffer
  /** Whether some must be served: the others get 503. Of a test key none is: its bodies are too large for the sandbox. */
  readonly served: boolean
}

const WAVES: readonly Wave[] = [
  { name: 'of 30 MB, passed through', key: 'few', body: large('passed/model'), served: true },
  { name: 'of 30 MB, translated', key: 'few', body: large('translated/model'), served: true },
  { name: 'of 49,000 messages, passed through', key: 'few', body: dense('passed/model'), served: true },
  { name: 'of 49,000 messages, translated', key: 'few', body: dense('translated/model'), served: true },
  { name: 'of 30 MB by a test key', key: 'test', body: large('passed/model'), served: false },
]

/** Large bodies by the hundred do not end a small process, and clients with other keys do not notice them. */
export const flood: Scenario = {
  name: 'flood',
  seconds: 300,
  table: TABLE,
  heapMb: HEAP_MB,
  async run({ gateway }, progress) {
    const steady = await startSteadyClient(gateway, gateway.keys.many, 'sandbox/hello')
    const findings: Finding[] = []
    for (const wave of WAVES) {
      const { served, shed, other } = await send(gateway, wave)
      progress(
        `${CALLS} bodies ${wave.name}: ${served} served, ${shed} refused with 503; ${residentMb(gateway)} MB at most so far`,
      )
      findings.push(
        exactly(wave.served ? 0 : CALLS, `replies to ${CALLS} bodies ${wave.name} that are neither 200 nor 503`, other),
      )
      if (wave.served) findings.push(exactly(1, `some of them served`, Math.min(served, 1)))
    }
    progress(`${CALLS} incomplete bodies`)
    await sendIncomplete(gateway)
    const { calls, failed, p99 } = await steady.stop()
    progress(`${calls} small calls, p99 ${p99.toFixed(1)} ms`)
    return [
      ...findings,
      exactly(0, `small calls of another key that failed, of ${calls}`, failed),
      atMost(LATEST_MS, 'ms', 'they took, p99', p99),
      atMost(MOST_MB, 'MB', `memory of a process with a heap of ${HEAP_MB} MB, at most`, residentMb(gateway)),
    ]
  },
}

async function send(gateway: SoakedGateway, { key, body }: Wave) {
  const client = createClient(gateway, gateway.keys[key])
  const statuses = await Promise.all(Array.from({ length: CALLS }, () => client.call(body).then(({ status }) => status)))
  client.close()
  const count = (wanted: number) => statuses.filter((status) => status === wanted).length
  return { served: count(200), shed: count(503), other: CALLS - count(200) - count(503) }
}

/** Sends half of each body, and leaves after a while. */
async function sendIncomplete(gateway: SoakedGateway): Promise<void> {
  const { hostname, port } = new URL(gateway.url)
  const body = large('passed/model')
  const lines = ['POST /v1/chat/completions HTTP/1.1', 'host: gateway', `authorization: Bearer ${gateway.keys.few}`]
  const head = [...lines, 'content-type: application/json', `content-length: ${body.length}`, '', ''].join('\r\n')
  const sockets: Socket[] = []
  for (let i = 0; i < CALLS; i++) {
    const socket = connect({ host: hostname, port: Number(port) })
    socket.on('error', () => {}).resume()
    await once(socket, 'connect')
    socket.write(head)
    socket.write(body.subarray(0, body.length / 2))
    sockets.push(socket)
  }
  await delay(INCOMPLETE_MS)
  for (const socket of sockets) socket.destroy()
}

/** The largest resident memory of a process of the gateway so far, in MB. Throws if one has ended. */
function residentMb({ pids }: SoakedGateway): number {
  const kilobytes = pids.map((pid) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]))
  return Math.round((Math.max(...kilobytes) * 1024) / MB)
}
