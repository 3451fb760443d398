import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Command, Service } from '../../bench/processes.ts'
import type { SoakFixture } from './fixture.ts'

const UMG = fileURLToPath(new URL('../../core/umg.mjs', import.meta.url))

/** A gateway of several processes, as an operator starts it. */
export interface ProcessGateway {
  readonly service: Service
  readonly url: string
  /** The ids of the processes that were started last in each place: `control`, `proxy-1`. */
  pids(): ReadonlyMap<string, number>
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
  const { open, folder, workspace } = fixture
  const { name, proxies, flags = [] } = place
  const routes = ['--routes', join(folder, 'routes.yaml')]
  const start = umg(fixture, place, 'start', '--port', '0', '--workers', String(proxies), ...routes, ...flags)
  const log = join(workspace.scratch, `${name}.log`)
  const service = workspace.processes.serve({ ...start, env: { SOAK_OPEN: open.origin } }, log)
  const url = await service.ready(() => /^listening on (\S+)$/m.exec(service.output())?.[1])
  const pids = () => pidsIn(service)
  await service.ready(() => (pids().size > proxies ? true : undefined))
  return { service, url, pids }
}

function umg({ workspace }: SoakFixture, { name }: ProcessPlace, ...args: readonly string[]): Command {
  const data = ['--data', join(workspace.scratch, name)]
  return { name: `umg ${args[0]}`, program: process.execPath, args: [UMG, ...args, ...data] }
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
