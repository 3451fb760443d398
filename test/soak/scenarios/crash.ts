import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import type { Service } from '../../../bench/processes.ts'
import { bodyOf, type Client, createClient } from '../client.ts'
import { serveEndlessStreams } from '../endless-streams.ts'
import type { SoakFixture } from '../fixture.ts'
import { namespaceOf, plainRoutes } from '../plain-routes.ts'
import { atMost, exactly, type Scenario } from '../scenario.ts'
import { median } from '../served-time.ts'

const UMG = fileURLToPath(new URL('../../../core/umg.mjs', import.meta.url))
const PROXIES = 4
const STREAMS = 200
/** Proxies are killed so often, and in between control twice. */
const KILLS = 30
const CONTROL_KILLS = [10, 20]
const BETWEEN_KILLS_MS = 2_000
/** A call that breaks off so soon after a kill was one of the killed process. */
const OF_THE_KILLED_MS = 500

/** When a call broke off. */
interface Broken {
  readonly at: number
}

/** Processes are killed one after the other under streams and steady calls: only their own calls break, and all are replaced. */
export const crash: Scenario = {
  name: 'crash',
  seconds: 240,
  table: plainRoutes(namespaceOf('open')),
  async run(fixture, progress) {
    const over = new AbortController()
    serveEndlessStreams(fixture.open, over.signal)
    const { service, url, key } = await startProcesses(fixture)
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
      process.kill(pidsIn(service).get(place)!, 'SIGKILL')
      if (CONTROL_KILLS.includes(kill)) process.kill(pidsIn(service).get('control')!, 'SIGKILL')
      await delay(BETWEEN_KILLS_MS)
    }
    over.abort()
    await Promise.all(calls)
    client.close()

    const others = broken.filter(({ at }) => !kills.some((kill) => at >= kill && at < kill + OF_THE_KILLED_MS))
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

/** Starts a gateway of several processes. */
async function startProcesses({ open, folder, workspace }: SoakFixture) {
  const { processes, scratch } = workspace
  const data = ['--data', join(scratch, 'processes')]
  const umg = (...args: string[]) => ({ name: `umg ${args[0]}`, program: process.execPath, args: [UMG, ...args, ...data] })
  const created = await processes.run(umg('keys', 'create', '--name', 'crash', '--json'))
  const { secret: key } = JSON.parse(created) as { readonly secret: string }
  const start = umg('start', '--port', '0', '--workers', String(PROXIES), '--routes', join(folder, 'routes.yaml'))
  const service = processes.serve({ ...start, env: { SOAK_OPEN: open.origin } }, join(scratch, 'processes.log'))
  const url = await service.ready(() => /^listening on (\S+)$/m.exec(service.output())?.[1])
  await service.ready(() => (pidsIn(service).size > PROXIES ? true : undefined))
  return { service, url, key }
}

/** The ids of the processes that were started last in each place: `control`, `proxy-1`. */
function pidsIn(service: Service): ReadonlyMap<string, number> {
  const pids = new Map<string, number>()
  for (const line of service.output().split('\n')) {
    if (!line.includes('started"}')) continue
    const { process: name, pid, processes = { [name]: pid } } = JSON.parse(line)
    for (const [each, id] of Object.entries(processes)) pids.set(each.split('.')[0]!, id as number)
  }
  return pids
}

/** Makes one call after the other. Notes those that fail or break off, and counts the others. */
async function callUntil(over: AbortSignal, client: Client, body: string, onServed: () => void, broken: Broken[]): Promise<void> {
  while (!over.aborted) {
    const answer = await client.call(body).catch(() => undefined)
    if (answer?.status === 200 && answer.whole) onServed()
    else broken.push({ at: performance.now() })
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
