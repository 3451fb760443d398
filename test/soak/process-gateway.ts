import { join } from 'node:path'
import type { Service } from '../../bench/processes.ts'
import type { SoakFixture } from './fixture.ts'

/** A gateway of several processes, as an operator starts it. */
export interface ProcessGateway {
  readonly service: Service
  readonly url: string
  readonly key: string
  /** The ids of the processes that were started last in each place: `control`, `proxy-1`. */
  pids(): ReadonlyMap<string, number>
}

/** Starts a gateway with the routes.yaml of the scenario and `proxies` proxies. It ends with the scenario. */
export async function startProcesses(fixture: SoakFixture, proxies: number): Promise<ProcessGateway> {
  const { open, folder, workspace } = fixture
  const { processes, scratch } = workspace
  const data = ['--data', join(scratch, 'processes')]
  const umg = (...args: string[]) => ({
    name: `umg ${args[0]}`,
    program: process.execPath,
    args: [workspace.umg, ...args, ...data],
  })
  const created = await processes.run(umg('keys', 'create', '--name', 'soak', '--json'))
  const { secret: key } = JSON.parse(created) as { readonly secret: string }
  const start = umg('start', '--port', '0', '--workers', String(proxies), '--routes', join(folder, 'routes.yaml'))
  const service = processes.serve({ ...start, env: { SOAK_OPEN: open.origin } }, join(scratch, 'processes.log'))
  const url = await service.ready(() => /^listening on (\S+)$/m.exec(service.output())?.[1])
  const pids = () => pidsIn(service)
  await service.ready(() => (pids().size > proxies ? true : undefined))
  return { service, url, key, pids }
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
