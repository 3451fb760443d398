import { setTimeout as delay } from 'node:timers/promises'
import { FIN, json } from '../../../core/testing/kit.ts'
import { openai } from '../../e2e/sdk/openai-dialect.ts'
import { bodyOf, createClient } from '../client.ts'
import type { SoakedGateway } from '../fixture.ts'
import { plainRoutes } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'
import { median, p99OfCalls } from '../served-time.ts'
import { NAMES } from '../unreachable.ts'

const ROUNDS = 5
const SLOWER_MS = 5
/** Calls to unreachable upstreams. */
const PER_SECOND = 50

// biome-ignore-start lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml
const PORT = '${env:SOAK_OPEN_PORT}'
const UNREACHABLE: Readonly<Record<string, string>> = {
  ...Object.fromEntries(
    ['silent', 'failing', 'missing'].flatMap((kind) =>
      Array.from({ length: NAMES }, (_, index) => [`${kind}-${index}`, `http://${kind}-${index}.test:${PORT}`]),
    ),
  ),
  'silent-tls': '${env:SOAK_SILENT_TLS}',
  'untrusted-tls': '${env:SOAK_UNTRUSTED_TLS}',
  'no-tls': `https://127.0.0.1:${PORT}`,
}
// biome-ignore-end lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml

const namespaceAt = ([name, origin]: readonly [string, string]): string =>
  `  ${name}: { provider: openai-compatible, breaker: false, config: { baseUrl: "${origin}/v1" } }\n`

/** Names that do not resolve, and TLS that fails: calls to an upstream with a good name notice nothing. */
export const names: Scenario = {
  name: 'names',
  seconds: 150,
  table: plainRoutes(
    [['lively', `http://lively.test:${PORT}`] as const, ...Object.entries(UNREACHABLE)].map(namespaceAt).join(''),
  ),
  async run({ gateway, open }, progress) {
    const lively = createClient(gateway, gateway.keys.many)
    // Closed after each reply: the name is needed for each call.
    open.on(() => [...json(openai.whole({ text: ['Hello!'] })), FIN])
    await p99OfCalls(lively, 'lively/m')
    const slower: number[] = []
    const failures: number[] = []
    for (let round = 1; round <= ROUNDS; round++) {
      const alone = await p99OfCalls(lively, 'lively/m')
      const calls = callUnreachable(gateway)
      const beside = await p99OfCalls(lively, 'lively/m')
      failures.push(...(await calls.stop()))
      progress(`round ${round} of ${ROUNDS}: p99 ${alone.toFixed(1)} ms alone, ${beside.toFixed(1)} ms beside calls that fail`)
      slower.push(beside - alone)
    }
    lively.close()
    return [
      atMost(
        SLOWER_MS,
        'ms',
        `slower beside ${PER_SECOND} calls a second that fail, p99, median of ${ROUNDS} rounds`,
        median(slower),
      ),
      exactly(
        0,
        'calls to unreachable upstreams that were not answered 502 or 504',
        failures.filter((status) => status !== 502 && status !== 504).length,
      ),
    ]
  },
}

/** Calls all unreachable upstreams, one after the other, until `stop`, which resolves to the statuses of the replies, 0 for none. */
function callUnreachable(gateway: SoakedGateway): { stop(): Promise<number[]> } {
  const client = createClient(gateway, gateway.keys.many)
  const namespaces = Object.keys(UNREACHABLE)
  const calls: Promise<number>[] = []
  let stopped = false
  const calling = (async () => {
    while (!stopped) {
      const model = `${namespaces[calls.length % namespaces.length]}/m`
      const call = client.call(bodyOf({ model }))
      calls.push(
        call.then(
          ({ status }) => status,
          () => 0,
        ),
      )
      await delay(1000 / PER_SECOND)
    }
  })()
  return {
    async stop() {
      stopped = true
      await calling
      const statuses = await Promise.all(calls)
      client.close()
      return statuses
    },
  }
}
