import { join } from 'node:path'
import type { Command, Service } from '../../bench/processes.ts'
import type { SoakFixture } from './fixture.ts'

/** A gateway of one or several processes, as an operator starts it. */
export interface ProcessGateway {
  /** Its first process, which supervises the others if there are several. */
  readonly service: Service
  readonly url: string
  /** The ids of the processes that were started last in each place: `control`, `proxy-1`; `gateway`, if it is the only one. */
  pids(): ReadonlyMap<string, number>
}

/** A gateway of one process. */
export interface SingleGateway extends ProcessGateway {
  /** Starts it again at its address when it has ended, as the service manager of its machine does. */
  startAgain(): Promise<void>
}

/** Starts a gateway with the routes.yaml of the scenario and `proxies` proxies, and a key of its own. It ends with the scenario. */
export async function startProcesses(fixture: SoakFixture, proxies: number): Promise<ProcessGateway & { readonly key: string }> {
  const { processes } = fixture.workspace
  const place = { name: 'processes', proxies }
  const created = await processes.run(umg(fixture, place, 'keys', 'create', '--name', 'soak', '--json'))
  const { secret: key } = JSON.parse(created) as { readonly secret: string }
  return { ...(await serveProcesses(fixture, place)), key }
}

/** Where a gateway of several processes has its data, and how many proxies. */
export interface ProcessPlace {
  /** The name of its folder and its log. */
  readonly name: string
  readonly proxies: number
  /** Further options of `umg start`. */
  readonly flags?: readonly string[]
}

/** Starts a gateway with the routes.yaml of the scenario, whose keys are all that it has. It ends with the scenario. */
export async function serveProcesses(fixture: SoakFixture, place: ProcessPlace): Promise<ProcessGateway> {
  const { service, url } = await serve(fixture, place, '0')
  const pids = () => pidsIn(service)
  await service.ready(() => (pids().size > place.proxies ? true : undefined))
  return { service, url, pids }
}

/** The same for a gateway of one process. */
export async function serveSingle(
  fixture: SoakFixture,
  { name, flags = [] }: Omit<ProcessPlace, 'proxies'>,
): Promise<SingleGateway> {
  const place = { name, proxies: 1, flags }
  const { url, ...first } = await serve(fixture, place, '0')
  let { service } = first
  let starts = 1
  return {
    get service() {
      return service
    },
    url,
    pids: () => new Map([['gateway', service.pid]]),
    async startAgain() {
      starts++
      service = (await serve(fixture, place, new URL(url).port, `${name}-${starts}`)).service
    },
  }
}

/** Starts a gateway, and waits until it listens. `log`: the name of its log. */
async function serve(fixture: SoakFixture, place: ProcessPlace, port: string, log = place.name) {
  const { open, folder, workspace } = fixture
  const { proxies, flags = [] } = place
  const routes = ['--routes', join(folder, 'routes.yaml')]
  const start = umg(fixture, place, 'start', '--port', port, '--workers', String(proxies), ...routes, ...flags)
  const command = { ...start, env: { SOAK_OPEN: open.origin } }
  const service = workspace.processes.serve(command, join(workspace.scratch, `${log}.log`))
  const url = await service.ready(() => /^listening on (\S+)$/m.exec(service.output())?.[1])
  return { service, url }
}

function umg({ workspace }: SoakFixture, { name }: ProcessPlace, ...args: readonly string[]): Command {
  const data = ['--data', join(workspace.scratch, name)]
  return { name: `umg ${args[0]}`, program: process.execPath, args: [workspace.umg, ...args, ...data] }
}

function pidsIn(service: Service): ReadonlyMap<string, number> {
  const pids = new Map<string, number>()
  for (const line of service.output().split('\n')) {
    if (!line.includes('started"}')) continue
    const { process: name, pid, processes = { [name]: pid } } = JSON.parse(line)
    for (const [each, id] of Object.entries(processes)) pids.set(each.split('.')[0]!, id as number)
  }
  return pids
}
