import { setTimeout as delay } from 'node:timers/promises'
import { type Answer, bodyOf, type Client, createClient } from '../client.ts'
import { serveEndlessStreams } from '../endless-streams.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { startProcesses } from '../process-gateway.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'
import { median } from '../served-time.ts'

const PROXIES = 4
const STREAMS = 200
/** Proxies are killed so often, and in between control twice. */
const KILLS = 30
const CONTROL_KILLS = [10, 20]
const BETWEEN_KILLS_MS = 2_000
/** A call that breaks off so soon after a kill was one of the killed process. */
const OF_THE_KILLED_MS = 500

/** A call that was not served as a whole. */
interface Broken {
  readonly at: number
  /** The reply, if it has a head. */
  readonly answer: Answer | undefined
}

/** Processes are killed one after the other under streams and steady calls: only their own calls break, and all are replaced. */
export const crash: Scenario = {
  name: 'crash',
  seconds: 240,
  notWithWorkers: 'it starts a gateway of several processes in any case',
  table: plainRoutes(namespaceOf('open')),
  async run(fixture, progress) {
    const over = new AbortController()
    serveEndlessStreams(fixture.open, over.signal)
    const { service, url, key, pids } = await startProcesses(fixture, PROXIES)
    const client = createClient({ url }, key)
    const broken: Broken[] = []
    const scrapes: number[] = []
    let served = 0
    const until = (body: string) => callUntil(over.signal, client, body, () => served++, broken)
    const calls = [
      ...Array.from({ length: STREAMS }, () => until(bodyOf({ model: 'open/m', stream: true }))),
      ...Array.from({ length: PROXIES }, () => until(bodyOf({ model: 'open/m' }))),
      scrapeUntil(over.signal, url, scrapes),
    ]
    await delay(BETWEEN_KILLS_MS)

    const kills: number[] = []
    for (let kill = 1; kill <= KILLS; kill++) {
      const place = `proxy-${1 + (kill % PROXIES)}`
      progress(`kill ${kill} of ${KILLS}`)
      kills.push(performance.now())
      process.kill(pids().get(place)!, 'SIGKILL')
      if (CONTROL_KILLS.includes(kill)) process.kill(pids().get('control')!, 'SIGKILL')
      await delay(BETWEEN_KILLS_MS)
    }
    over.abort()
    await Promise.all(calls)
    client.close()

    const others = broken.filter(({ at }) => !kills.some((kill) => at >= kill && at < kill + OF_THE_KILLED_MS))
    for (const { at, answer } of others) {
      const since = Math.round(at - kills.findLast((kill) => kill < at)!)
      const reply = answer === undefined ? 'no reply' : `${answer.status} ${JSON.stringify(answer.body.slice(-100))}`
      progress(`broke ${since} ms after a kill: ${reply}`)
    }
    const successors = [...service.output().matchAll(/"process":"proxy[^}]*"ms":(\d+)[^}]*"process serves"/g)].map(([, ms]) =>
      Number(ms),
    )
    return [
      exactly(0, 'calls that broke though their process was not killed', others.length),
      atMost(60, '% of the streams', 'broken by a kill, on average', (100 * broken.length) / KILLS / STREAMS),
      exactly(KILLS, 'successors of proxies that served', successors.length),
      atMost(1000, 'ms', 'until a successor serves, median', median(successors)),
      exactly(0, 'times that a counter went back', scrapes.filter((count, index) => count < (scrapes[index - 1] ?? 0)).length),
      atMost(0, 'scrapes', 'missing', scrapes.length < KILLS ? KILLS - scrapes.length : 0),
      exactly(1, 'whether calls were served', Math.min(served, 1)),
    ]
  },
}

/** Makes one call after the other. Notes those that fail or break off, and counts the others. */
async function callUntil(over: AbortSignal, client: Client, body: string, onServed: () => void, broken: Broken[]): Promise<void> {
  while (!over.aborted) {
    const answer = await client.call(body).catch(() => undefined)
    if (answer?.status === 200 && answer.whole) onServed()
    else broken.push({ at: performance.now(), answer })
    await delay(10)
  }
}

/** Scrapes the number of calls each second. */
async function scrapeUntil(over: AbortSignal, url: string, scrapes: number[]): Promise<void> {
  while (!over.aborted) {
    const reply = await fetch(`${url}/metrics`, { headers: { connection: 'close' } }).catch(() => undefined)
    if (reply?.status === 200) scrapes.push(callsIn(await reply.text().catch(() => '')))
    await delay(1000)
  }
}

function callsIn(text: string): number {
  const series = text.split('\n').filter((line) => line.startsWith('umg_requests_total{'))
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
