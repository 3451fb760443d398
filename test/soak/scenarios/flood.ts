import { readFileSync } from 'node:fs'
import type { SoakedGateway } from '../fixture.ts'
import { type FloodBody, startFloodClient } from '../flood-client.ts'
import { atMost, exactly, type Finding, type Scenario } from '../scenario.ts'
import { startSteadyClient } from '../steady-client.ts'

const CALLS = 200
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

/** Many calls at once. */
interface Wave {
  readonly name: string
  readonly key: 'few' | 'test'
  readonly model: string
  readonly body: FloodBody
  /** Whether some must be served: the others get 503. Of a test key none is: its bodies are too large for the sandbox. */
  readonly served: boolean
}

const WAVES: readonly Wave[] = [
  { name: 'of 30 MB, passed through', key: 'few', model: 'passed/model', body: 'large', served: true },
  { name: 'of 30 MB, translated', key: 'few', model: 'translated/model', body: 'large', served: true },
  { name: 'of 49,000 messages, passed through', key: 'few', model: 'passed/model', body: 'dense', served: true },
  { name: 'of 49,000 messages, translated', key: 'few', model: 'translated/model', body: 'dense', served: true },
  { name: 'of 30 MB by a test key', key: 'test', model: 'passed/model', body: 'large', served: false },
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
    const client = startFloodClient(gateway)
    for (const wave of WAVES) {
      const { 200: served = 0, 503: shed = 0 } = await client.send({ ...wave, count: CALLS, key: gateway.keys[wave.key] })
      progress(
        `${CALLS} bodies ${wave.name}: ${served} served, ${shed} refused with 503; ${residentMb(gateway)} MB at most so far`,
      )
      findings.push(
        exactly(
          wave.served ? 0 : CALLS,
          `replies to ${CALLS} bodies ${wave.name} that are neither 200 nor 503`,
          CALLS - served - shed,
        ),
      )
      if (wave.served) findings.push(exactly(1, `some of them served`, Math.min(served, 1)))
    }
    progress(`${CALLS} incomplete bodies`)
    const incomplete = { model: 'passed/model', body: 'large', incompleteMs: INCOMPLETE_MS } as const
    await client.send({ ...incomplete, count: CALLS, key: gateway.keys.few })
    client.stop()
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

/** The largest resident memory of a process of the gateway so far, in MB. Throws if one has ended. */
function residentMb({ pids }: SoakedGateway): number {
  const kilobytes = pids.map((pid) => Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'latin1'))![1]))
  return Math.round((Math.max(...kilobytes) * 1024) / MB)
}
