import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Processes } from '../../bench/processes.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../core/testing/kit.ts'
import { startBlackhole } from './blackhole.ts'
import { createGatewayKeys, type GatewayKeys } from './gateway-keys.ts'
import type { Announcement } from './probe.ts'
import { type ProcessResources, total } from './resources.ts'
import { startSink } from './sink.ts'
import { startUnreachable } from './unreachable.ts'

/** A gateway, its upstreams and its workspace. */
export interface SoakFixture extends AsyncDisposable {
  readonly gateway: SoakedGateway
  /** The OpenAI-compatible upstream. */
  readonly open: ScriptedUpstream
  /** The Anthropic upstream. */
  readonly claude: ScriptedUpstream
  /** A port that accepts no connection. */
  readonly blackholePort: number
  /** The folder of routes.yaml, if the scenario has its own. */
  readonly folder: string
  /** Further processes and files of the scenario, which end with it. */
  readonly workspace: Workspace
  /** Starts another gateway on a database, its own or a shared one. */
  start(database: string): Promise<SoakedGateway>
}

/** The gateway under test. Its supervisor, if it has one, is not measured: it serves nothing. */
export interface SoakedGateway {
  readonly url: string
  readonly keys: GatewayKeys
  /** The number of processes that serve calls. */
  readonly workers: number
  /** The ids of its processes: control and the proxies, or the only one. */
  readonly pids: readonly number[]
  /** The resources of its processes together, without connections to upstreams, some of which it keeps on purpose. */
  resources(): Promise<ProcessResources>
  /** The longest delay of an event loop of its processes since the last call, in milliseconds. */
  lateness(): Promise<number>
  /** Sends a signal to all its processes. */
  kill(signal: NodeJS.Signals): void
  /** Its output so far: the log. */
  output(): string
  /** The sum of a metric's series, or of those with a label: `outcome="ok"`. */
  metric(name: string, label?: string): Promise<number>
}

/** The processes and files of a scenario, which end with it. */
export interface Workspace {
  readonly processes: Processes
  readonly scratch: string
  /** The path of the command `umg` of the package. */
  readonly umg: string
  /** The number of processes of the gateway that serve calls. */
  readonly workers: number
  /** The text of the gateway's routes.yaml. Undefined: routes.yaml of this folder. */
  readonly table: string | undefined
  /** V8's limit of the heap of each process, in MB. Undefined: V8's own. */
  readonly heapMb: number | undefined
  /** The limit of open files of each process. Undefined: that of the command. */
  readonly descriptors: number | undefined
}

/** Starts the upstreams and the gateway. */
export async function startFixture(workspace: Workspace): Promise<SoakFixture> {
  await using parts = new AsyncDisposableStack()
  const open = parts.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  const claude = parts.adopt(await scriptedUpstream(), (upstream) => upstream.close())
  const blackhole = parts.use(await startBlackhole())
  const sink = parts.use(await startSink())
  const unreachable = parts.use(await startUnreachable())
  const env = {
    SOAK_OPEN: open.origin,
    SOAK_CLAUDE: claude.origin,
    SOAK_SINK: sink.origin,
    SOAK_BLACKHOLE: `http://127.0.0.1:${blackhole.port}`,
    SOAK_OPEN_PORT: new URL(open.origin).port,
    SOAK_SILENT_TLS: unreachable.silentTls,
    SOAK_UNTRUSTED_TLS: unreachable.untrustedTls,
    SOAK_NAME_SERVER: unreachable.nameServer,
    SOAK_KEY: 'sk-ant-soak',
  }
  const table = await tableOf(workspace)
  let started = 0
  const start = (database: string) => {
    started += 1
    const log = join(workspace.scratch, `gateway-${started}.log`)
    const kept = () => open.connectionsOpen + claude.connectionsOpen
    return startGateway(workspace, { database, table, env, log, kept })
  }
  const gateway = await start(`sqlite:${join(workspace.scratch, 'gateway.db')}`)
  const moved = parts.move()
  return {
    gateway,
    open,
    claude,
    blackholePort: blackhole.port,
    folder: folderOf(workspace),
    workspace,
    start,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}

const folderOf = ({ scratch }: Workspace): string => join(scratch, 'table')

/** Writes the workspace's own routes.yaml, if any. Resolves to the path of the routes.yaml to use. */
async function tableOf(workspace: Workspace): Promise<string> {
  if (workspace.table === undefined) return fileURLToPath(new URL('routes.yaml', import.meta.url))
  const path = join(folderOf(workspace), 'routes.yaml')
  await mkdir(folderOf(workspace))
  await writeFile(path, workspace.table)
  return path
}

/** Settings of a gateway. */
interface GatewaySettings {
  readonly database: string
  /** The path of its routes.yaml. */
  readonly table: string
  readonly env: Readonly<Record<string, string>>
  readonly log: string
  /** The number of open connections to upstreams. */
  kept(): number
}

const PROBE = fileURLToPath(new URL('probe.ts', import.meta.url))

/** Starts a gateway as an operator does, with a probe in each of its processes: they take over the flags of the first one. */
async function startGateway(
  { processes, scratch, umg, workers, heapMb, descriptors }: Workspace,
  { database, table, env, log, kept }: GatewaySettings,
): Promise<SoakedGateway> {
  const keys = await createGatewayKeys(database)
  // V8 drops code that has not run for some collections, which would look like freed memory.
  const flags = ['--expose-gc', '--no-flush-bytecode', ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`])]
  const options = ['--port', '0', '--workers', String(workers), '--routes', table, '--database', database, '--data', scratch]
  const args = [...flags, '--import', PROBE, umg, 'start', ...options]
  const limited = ['-c', `ulimit -n ${descriptors ?? '"$(ulimit -n)"'}; exec "$@"`, 'sh', process.execPath, ...args]
  const service = processes.serve({ name: 'the gateway', program: 'sh', args: limited, env: { ...env, TMPDIR: scratch } }, log)
  const url = await service.ready(() => /^listening on (\S+)$/m.exec(service.output())?.[1])
  const measured = announcementsIn(service.output()).filter((announced) => workers === 1 || announced.process !== undefined)
  const ask = <Answer>(what: string): Promise<Answer[]> =>
    Promise.all(measured.map(async ({ probe }) => (await get(`${probe}/${what}`)).json() as Answer))
  return {
    url,
    keys,
    workers,
    pids: measured.map(({ pid }) => pid),
    async resources() {
      // A proxy keeps its connection to control for a while after it has forwarded a request: now all of them do.
      await Promise.all(Array.from({ length: workers }, async () => (await get(`${url}/readyz?verbose`)).text()))
      const all = total(await ask<ProcessResources>('resources'))
      return { ...all, descriptors: all.descriptors - kept() }
    },
    output: () => service.output(),
    lateness: async () => Math.max(...(await ask<number>('lateness'))),
    kill: (signal) => void process.kill(-service.pid, signal),
    metric: async (name, label = '') => sumOf(await (await get(`${url}/metrics`)).text(), name, label),
  }
}

const announcementsIn = (output: string): readonly Announcement[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{"probe"'))
    .map((line) => JSON.parse(line))

/** Without keep-alive: a kept connection would be counted among the gateway's. */
const get = (url: string): Promise<Response> => fetch(url, { headers: { connection: 'close' } })

function sumOf(text: string, name: string, label: string): number {
  const series = text
    .split('\n')
    .filter((line) => /^[{ ]/.test(line.slice(name.length)) && line.startsWith(name) && line.includes(label))
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
