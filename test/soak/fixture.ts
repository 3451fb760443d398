import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Processes } from '../../bench/processes.ts'
import { type ScriptedUpstream, scriptedUpstream } from '../../core/testing/kit.ts'
import { startBlackhole } from './blackhole.ts'
import type { Announcement } from './gateway.ts'
import type { ProcessResources } from './resources.ts'
import { startSink } from './sink.ts'
import { startUnreachable } from './unreachable.ts'

/** A gateway process, its upstreams and its workspace. */
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

/** The gateway under test. */
export interface SoakedGateway extends Pick<Announcement, 'url' | 'keys'> {
  readonly pid: number
  /** The resources of its process without its connections to upstreams, some of which it keeps on purpose. */
  resources(): Promise<ProcessResources>
  /** The longest delay of its event loop since the last call, in milliseconds. */
  lateness(): Promise<number>
  /** Its output so far: the log. */
  output(): string
  /** The sum of a metric's series, or of those with a label: `outcome="ok"`. */
  metric(name: string, label?: string): Promise<number>
}

/** The processes and files of a scenario, which end with it. */
export interface Workspace {
  readonly processes: Processes
  readonly scratch: string
  /** The text of the gateway's routes.yaml. Undefined: routes.yaml of this folder. */
  readonly table: string | undefined
  /** V8's limit of the gateway's heap, in MB. Undefined: V8's own. */
  readonly heapMb: number | undefined
  /** The gateway's limit of open files. Undefined: that of the command. */
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

/** Settings of a gateway process. */
interface GatewayProcess {
  readonly database: string
  /** The path of its routes.yaml. */
  readonly table: string
  readonly env: Readonly<Record<string, string>>
  readonly log: string
  /** The number of open connections to upstreams. */
  kept(): number
}

async function startGateway(
  { processes, heapMb, descriptors }: Workspace,
  { database, table, env, log, kept }: GatewayProcess,
): Promise<SoakedGateway> {
  // V8 drops code that has not run for some collections, which would look like freed memory.
  const flags = ['--expose-gc', '--no-flush-bytecode', ...(heapMb === undefined ? [] : [`--max-old-space-size=${heapMb}`])]
  const args = [...flags, fileURLToPath(new URL('gateway.ts', import.meta.url)), database, table]
  const limited = ['-c', `ulimit -n ${descriptors ?? '"$(ulimit -n)"'}; exec "$@"`, 'sh', process.execPath, ...args]
  const service = processes.serve({ name: 'the gateway', program: 'sh', args: limited, env }, log)
  const { url, probe, keys } = await service.ready(() => announcementIn(service.output()))
  const look = async (what: string) => (await get(`${probe}/${what}`)).json()
  return {
    url,
    keys,
    pid: service.pid,
    async resources() {
      const all = (await look('resources')) as ProcessResources
      return { ...all, descriptors: all.descriptors - kept() }
    },
    output: () => service.output(),
    lateness: () => look('lateness') as Promise<number>,
    metric: async (name, label = '') => sumOf(await (await get(`${url}/metrics`)).text(), name, label),
  }
}

function announcementIn(output: string): Announcement | undefined {
  const line = output.split('\n').find((text) => text.includes('"probe"') && text.endsWith('}'))
  return line === undefined ? undefined : JSON.parse(line)
}

/** Without keep-alive: a kept connection would be counted among the gateway's. */
const get = (url: string): Promise<Response> => fetch(url, { headers: { connection: 'close' } })

function sumOf(text: string, name: string, label: string): number {
  const series = text
    .split('\n')
    .filter((line) => /^[{ ]/.test(line.slice(name.length)) && line.startsWith(name) && line.includes(label))
  return series.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' '))), 0)
}
