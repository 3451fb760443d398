import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Processes } from '../../bench/processes.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../core/testing/kit.ts'
import { startDeafServer } from './deaf-server.ts'
import type { Announcement } from './gateway.ts'
import type { Holdings } from './holdings.ts'

/** A gateway in a process of its own, and what stands around it. */
export interface Stage extends AsyncDisposable {
  readonly gateway: SoakedGateway
  /** Speaks OpenAI's protocol. */
  readonly open: ScriptedUpstream
  /** Speaks Anthropic's. */
  readonly claude: ScriptedUpstream
  /** Where nobody accepts a connection. */
  readonly deafPort: number
  /** Where routes.yaml is, of a line that has a table of its own. */
  readonly folder: string
  /** For what a line needs beside all that; it ends with the line. */
  readonly place: Place
  /** Starts another gateway like it, with a database of its own or of others. */
  start(database: string): Promise<SoakedGateway>
}

/** What is seen of the gateway from outside. */
export interface SoakedGateway extends Pick<Announcement, 'url' | 'keys'> {
  readonly pid: number
  /** What its process holds after a garbage collection, but for the connections to upstreams, of which it keeps some on purpose. */
  holdings(): Promise<Holdings>
  /** Milliseconds that its event loop was late, at worst, since this was last asked. */
  lateness(): Promise<number>
  /** What it has printed: its log. */
  output(): string
  /** The sum of a metric's series, or of those that have this label: `outcome="ok"`. */
  metric(name: string, label?: string): Promise<number>
}

/** Where a line does its work: its processes and its files end with it. */
export interface Place {
  readonly processes: Processes
  readonly scratch: string
  /** The text of the gateway's routing table; absent: routes.yaml of this folder. */
  readonly table: string | undefined
}

export async function startStage(place: Place): Promise<Stage> {
  await using parts = new AsyncDisposableStack()
  const open = parts.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  const claude = parts.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  const deaf = parts.use(await startDeafServer())
  const env = {
    SOAK_OPEN: open.origin,
    SOAK_CLAUDE: claude.origin,
    SOAK_DEAF: `http://127.0.0.1:${deaf.port}`,
    SOAK_KEY: 'sk-ant-soak',
  }
  const table = await tableOf(place)
  let started = 0
  const start = (database: string) => {
    started += 1
    const log = join(place.scratch, `gateway-${started}.log`)
    const kept = () => open.connectionsOpen + claude.connectionsOpen
    return startGateway(place.processes, { database, table, env, log, kept })
  }
  const gateway = await start(`sqlite:${join(place.scratch, 'gateway.db')}`)
  const moved = parts.move()
  return {
    gateway,
    open,
    claude,
    deafPort: deaf.port,
    folder: folderOf(place),
    place,
    start,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

const folderOf = ({ scratch }: Place): string => join(scratch, 'table')

/** Writes the table of a place that has its own. Resolves to its path. */
async function tableOf(place: Place): Promise<string> {
  if (place.table === undefined) return fileURLToPath(new URL('routes.yaml', import.meta.url))
  const path = join(folderOf(place), 'routes.yaml')
  await mkdir(folderOf(place))
  await writeFile(path, place.table)
  return path
}

/** How a gateway is started. */
interface Start {
  readonly database: string
  /** Path of its routing table. */
  readonly table: string
  readonly env: Readonly<Record<string, string>>
  readonly log: string
  /** How many connections upstreams have open. */
  kept(): number
}

async function startGateway(processes: Processes, { database, table, env, log, kept }: Start): Promise<SoakedGateway> {
  // V8 drops code that has not run for some collections, which would look like memory given back.
  const flags = ['--expose-gc', '--no-flush-bytecode']
  const args = [...flags, fileURLToPath(new URL('gateway.ts', import.meta.url)), database, table]
  const service = processes.serve({ name: 'the gateway', program: process.execPath, args, env }, log)
  const { url, window, keys } = await service.ready(() => announcementIn(service.output()))
  const look = async (what: string) => (await get(`${window}/${what}`)).json()
  return {
    url,
    keys,
    pid: service.pid,
    async holdings() {
      const all = (await look('holdings')) as Holdings
      return { ...all, descriptors: all.descriptors - kept() }
    },
    output: () => service.output(),
    lateness: () => look('lateness') as Promise<number>,
    metric: async (name, label = '') => sumOf(await (await get(`${url}/metrics`)).text(), name, label),
  }
}

function announcementIn(output: string): Announcement | undefined {
  const line = output.split('\n').find((text) => text.includes('"window"') && text.endsWith('}'))
  return line === undefined ? undefined : JSON.parse(line)
}

/** On a connection of its own: one that stays would be counted among the gateway's. */
const get = (url: string): Promise<Response> => fetch(url, { headers: { connection: 'close' } })

function sumOf(text: string, name: string, label: string): number {
  const series = text
    .split('\n')
    .filter((line) => /^[{ ]/.test(line.slice(name.length)) && line.startsWith(name) && line.includes(label))
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
