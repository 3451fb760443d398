import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { json } from '../../../core/testing/kit.ts'
import { bodyOf, type Client, createClient } from '../client.ts'
import { namespaceOf } from '../plain-routes.ts'
import { startProcesses } from '../process-gateway.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'

const LINK = fileURLToPath(new URL('../hostile-link.ts', import.meta.url))
const PROXIES = 2
/** Clients that call all the time, each on a connection of its own. */
const CLIENTS = 8
/** What the link does, and how often. */
const DEEDS: readonly (readonly [string, number])[] = [
  ['reject', 3],
  ['timer', 3],
  ['outside', 6],
  ['pause', 2],
  ['leak', 10],
  ['hang', 1],
]
/** The time after a deed in which a process is replaced. A process that hangs is ended after ten seconds. */
const AFTER_MS: Readonly<Record<string, number>> = { reject: 300, timer: 300, leak: 300, hang: 18_000 }
const USUALLY_AFTER_MS = 5_000
/** A call that breaks off so soon after a process was ended was one of its calls. */
const OF_THE_ENDED_MS = 500

const COMPLETION = {
  id: 'c',
  object: 'chat.completion',
  created: 1,
  model: 'm',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Yes.' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 },
}

/** A plugin throws outside of its calls, blocks the event loop, and leaks: the calls of other clients are served. */
export const hostilePlugin: Scenario = {
  name: 'hostile-plugin',
  seconds: 180,
  notWithWorkers: 'it starts a gateway of several processes in any case',
  table: `version: 1
chain:
  - plugin: auth
  - plugin: ${LINK}
namespaces:
${namespaceOf('open')}`,
  async run(fixture, progress) {
    fixture.open.on(() => json(COMPLETION))
    const { service, url, key } = await startProcesses(fixture, PROXIES)
    const over = new AbortController()
    const broken: number[] = []
    let served = 0
    const clients = Array.from({ length: CLIENTS }, () => createClient({ url }, key))
    const calls = clients.map((client) => callUntil(over.signal, client, () => served++, broken))
    let endedAt = 0
    for (const [deed, times] of DEEDS)
      for (let count = 1; count <= times; count++) {
        progress(`${deed} ${count} of ${times}`)
        const hanging = commit(url, key, deed)
        if (deed === 'hang') endedAt = await hanging
        await delay(AFTER_MS[deed] ?? USUALLY_AFTER_MS)
      }
    over.abort()
    await Promise.all(calls)
    for (const client of clients) client.close()
    const others = broken.filter((at) => Math.abs(at - endedAt) > OF_THE_ENDED_MS)
    const lost = service.output().split('uncaught exception, ending this process').length - 1
    return [
      exactly(0, 'calls of other clients that failed though their process was not ended', others.length),
      atMost(CLIENTS, 'calls', 'of the process that hung and was ended', broken.length - others.length),
      exactly(6, 'processes that drained after an error that their plugin lost outside of calls', lost),
      exactly(1, 'whether a process that hung was ended', service.output().split('does not answer, ending it').length - 1),
      exactly(1, 'whether calls were served', Math.min(served, 1)),
    ]
  },
}

/** Makes the link do something. Resolves to when the call ended. */
async function commit(url: string, key: string, deed: string): Promise<number> {
  await fetch(`${url}/v1/chat/completions`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', 'x-deed': deed, connection: 'close' },
    body: bodyOf({ model: 'open/m' }),
  })
    .then((reply) => reply.text())
    .catch(() => undefined)
  return performance.now()
}

/** Makes one call after the other. Notes when one fails or breaks off, and counts the others. */
async function callUntil(over: AbortSignal, client: Client, onServed: () => void, broken: number[]): Promise<void> {
  while (!over.aborted) {
    const answer = await client.call(bodyOf({ model: 'open/m' })).catch(() => undefined)
    if (answer?.status === 200 && answer.whole) onServed()
    else broken.push(performance.now())
    await delay(20)
  }
}
