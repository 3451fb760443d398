import { readFileSync, writeFileSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { connect, createServer } from 'node:net'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Asked, asUpstream, CHAT, type ClientApi, type UpstreamApi } from './apis.ts'
import { THIS_CHECKOUT } from './checkout.ts'
import { allocatedIn } from './memory.ts'
import type { Place } from './place.ts'
import type { Command, Service } from './processes.ts'

/** Something requests are sent to. */
export interface Subject {
  /** `direct`, `nginx`, `relay`, `gateway`, a variant's, a version's or a peer's name. */
  readonly name: string
  readonly port: number
  /** `client`: what the gateway is asked by; others do not know it. */
  readonly asks: (api: UpstreamApi, client?: ClientApi) => Asked
  /** The root of its process tree; absent where nothing stands between load generator and upstream. */
  readonly pid?: number
  /** Present where it is not the run's own: its key. */
  readonly key?: string
  /**
   * Its processes that serve; absent: one. It is asked on so many times the connections, so that each has those of one: a process that
   * finds fewer events in a turn of its event loop uses more for each.
   */
  readonly workers?: number
  /** Present at the relay and at gateways: the bytes on the heap that it has allocated since the call before; 0 at the first. */
  readonly allocated?: () => Promise<number>
  /** Present at a peer or version: it is paused while others are measured, and what fails through it does not end the run. */
  readonly peer?: Pick<Service, 'pause' | 'resume'>
}

/** All that is measured, and the key that opens the gateway and its peers. */
export interface Subjects {
  /** The upstream itself, whose text all replies must have. */
  readonly direct: Subject
  readonly all: readonly Subject[]
  readonly key: string
}

const asGateway: Subject['asks'] = ({ namespace, model, unpaced }, client) => ({
  path: client === undefined ? CHAT.path : `/v1/${client}`,
  model: `${namespace}/${model}`,
  ...(client && { speaks: client }),
  ...(unpaced && { unpaced }),
})

/** What nginx does beside relaying, with nginx.conf. */
export const NGINX_SWITCHED_ON = 'nothing: no keys, limits, log or metrics; reads no bodies'

/** What the relay does beside relaying. */
export const RELAY_SWITCHED_ON = 'nothing: no keys, limits, log or metrics; collects bodies'

/** What the gateway does beside relaying, with routes.yaml. */
export const GATEWAY_SWITCHED_ON =
  'API keys in a database, limits on requests and tokens, response headers, one log line and one row of usage a call, metrics'

/** The mock upstream and the load generator, built by make. */
export const TOOLS = fileURLToPath(new URL('tools/', import.meta.url))

/** Starts the mock upstream, and before it nginx, the relay and the gateway, and waits until all of them serve. */
export async function startSubjects(place: Place): Promise<Subjects> {
  const upstream = await startUpstream(place)
  const direct = directTo(upstream)
  const nginx = await startNginx(place, upstream)
  const relay = await startRelay(place, upstream)
  const { subject: gateway } = await startGateway(place, upstream, { name: 'gateway' })
  return { direct, all: [direct, nginx, relay, gateway], key: gateway.key }
}

/** The mock upstream as a subject: nothing stands between it and the load generator. */
export const directTo = (port: number): Subject => ({ name: 'direct', port, asks: asUpstream })

/** Starts the mock upstream; resolves to its port. */
export async function startUpstream({ processes, scratch, cores }: Place): Promise<number> {
  const command = { name: 'the mock upstream', program: join(TOOLS, '.build/upstream'), args: [], core: cores?.tools }
  return announcedPort(processes.serve(command, join(scratch, 'upstream.log')))
}

async function startNginx({ processes, scratch, cores }: Place, upstream: number): Promise<Subject> {
  const port = await freePort()
  const template = readFileSync(new URL('nginx.conf', import.meta.url), 'utf8')
  const file = join(scratch, 'nginx.conf')
  writeFileSync(file, template.replaceAll('{port}', String(port)).replaceAll('{upstream}', `127.0.0.1:${upstream}`))
  const command = { name: 'nginx', program: 'nginx', args: ['-e', 'stderr', '-p', scratch, '-c', file], core: cores?.proxy }
  const service = processes.serve(command, join(scratch, 'nginx.log'))
  await service.ready(async () => ((await accepts(port)) ? true : undefined))
  return { name: 'nginx', port, asks: asUpstream, pid: service.pid }
}

async function startRelay({ processes, scratch, cores }: Place, upstream: number): Promise<Subject> {
  const { env, allocated } = await counted('relay', scratch)
  const args = [fileURLToPath(new URL('relay.ts', import.meta.url)), String(upstream)]
  const command = { name: 'the relay', program: process.execPath, args, env, core: cores?.proxy }
  const service = processes.serve(command, join(scratch, 'relay.log'))
  return { name: 'relay', port: await announcedPort(service), asks: asUpstream, pid: service.pid, allocated }
}

/** The environment of a program of Node whose allocations are counted, and what counts them. `imports`: further modules that it loads first. */
async function counted(name: string, scratch: string, imports: readonly URL[] = []) {
  const folder = join(scratch, `${name}-allocations`)
  await mkdir(folder)
  const flags = [new URL('allocations.ts', import.meta.url), ...imports].map((module) => `--import=${module}`)
  // The operator's own profile it.
  const options = [process.env.NODE_OPTIONS ?? '', ...flags].join(' ').trim()
  return { env: { NODE_OPTIONS: options, BENCH_ALLOCATIONS: folder }, allocated: () => allocatedIn(folder) }
}

/** What makes one gateway differ from another. */
export interface GatewaySettings {
  readonly name: string
  /** Further sections of its routes.yaml. */
  readonly sections?: string
  /** Further options of `umg start`. */
  readonly flags?: readonly string[]
  /** Further options of `umg keys create`. */
  readonly ofKey?: readonly string[]
  /** Modules that its processes load first. */
  readonly imports?: readonly URL[]
  /** As `Subject.workers`. */
  readonly workers?: number
  /** The Node that runs it; absent: this one. */
  readonly node?: string
  /** The folder of the checkout whose gateway is started; absent: this one. */
  readonly folder?: string
}

/** Starts a gateway with a database and a key of its own, and waits until it serves. */
export async function startGateway(
  { processes, scratch, cores }: Place,
  upstream: number,
  {
    name,
    sections = '',
    flags = [],
    ofKey = [],
    imports,
    workers = 1,
    node = process.execPath,
    folder = THIS_CHECKOUT,
  }: GatewaySettings,
): Promise<{ readonly subject: Subject & { readonly key: string }; readonly service: Service }> {
  const umg = (what: string, args: readonly string[]): Command => ({
    name: what,
    program: node,
    args: [join(folder, 'core/umg.mjs'), ...args],
  })
  const data = ['--data', join(scratch, name)]
  const created = await processes.run(umg('umg keys create', ['keys', 'create', '--name', 'bench', '--json', ...ofKey, ...data]))
  const { secret: key } = JSON.parse(created) as { secret: string }

  const routes = join(scratch, `${name}.yaml`)
  writeFileSync(routes, readFileSync(new URL('routes.yaml', import.meta.url), 'utf8') + sections)
  const listen = ['--host', '127.0.0.1', '--port', '0']
  const start = umg(name, ['start', '--routes', routes, ...listen, '--workers', String(workers), ...flags, ...data])
  const { env: ofCount, allocated } = await counted(name, scratch, imports)
  const env = {
    BENCH_UPSTREAM: `http://127.0.0.1:${upstream}/v1`,
    BENCH_API_KEY: 'sk-ant-bench',
    BENCH_KEEPING_KEY: 'k'.repeat(32),
    ...ofCount,
  }
  const service = processes.serve({ ...start, env, core: cores?.proxy }, join(scratch, `${name}.log`))
  const port = await announcedPort(service)
  return { subject: { name, port, asks: asGateway, pid: service.pid, key, workers, allocated }, service }
}

function announcedPort(service: Service): Promise<number> {
  return service.ready(() => {
    const port = /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(service.output())?.[1]
    return port === undefined ? undefined : Number(port)
  })
}

/** A free port, for a server that does not report which one it listens on. */
export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const server = createServer()
    server.once('error', reject)
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as { port: number }
      server.close(() => resolve(port))
    })
  })
}

/** Whether something listens at a port. */
export function accepts(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    socket.once('connect', () => socket.end(() => resolve(true)))
    socket.once('error', () => resolve(false))
  })
}
