import { join } from 'node:path'
import { accepts, freePort, type GatewaySettings, type Place, type Subject, startGateway } from './subjects.ts'

/** A gateway that is measured to show what limits and budgets cost. */
interface LimitGateway {
  readonly name: string
  /** Starts what it needs. Resolves to its settings. */
  prepare(place: Place): Promise<Omit<GatewaySettings, 'name'>>
}

/** A budget of the key, beside its limits, that the benchmark does not spend. */
const BUDGET = { ofKey: ['--budget', '100000 USD/month'] }

/** What the comparisons are made with. The subject `gateway` is another one: its limits are in its database. */
export const LIMIT_GATEWAYS: readonly LimitGateway[] = [
  {
    name: 'limits-memory',
    prepare: async () => ({ env: { NODE_OPTIONS: `--import=${new URL('limits-in-memory.ts', import.meta.url)}` } }),
  },
  { name: 'limits-redis', prepare: async (place) => ({ flags: ['--redis', await startRedis(place)] }) },
  { name: 'budget', prepare: async () => BUDGET },
  { name: 'budget-redis', prepare: async (place) => ({ ...BUDGET, flags: ['--redis', await startRedis(place)] }) },
]

/** How much of another subject's CPU a subject may use. */
export interface Comparison {
  readonly scenario: string
  readonly subject: Subject['name']
  readonly reference: Subject['name']
  readonly mostTimes: number
}

/** What shared limits and a budget may cost, beside limits in memory. */
export const LIMIT_COMPARISONS: readonly Comparison[] = ['gateway', 'limits-redis', 'budget', 'budget-redis'].map((subject) => ({
  scenario: 'small',
  subject,
  reference: 'limits-memory',
  mostTimes: 1.03,
}))

/** Starts the gateways before the same upstream, and pauses each that serves. */
export async function startLimitGateways(place: Place, upstream: number): Promise<readonly Subject[]> {
  const subjects: Subject[] = []
  for (const { name, prepare } of LIMIT_GATEWAYS) {
    const { subject, service } = await startGateway(place, upstream, { name, ...(await prepare(place)) })
    service.pause()
    subjects.push({ ...subject, peer: service })
  }
  return subjects
}

/** Resolves to the URL of a server that keeps nothing on disk. */
async function startRedis({ processes, scratch, cores }: Place): Promise<string> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', scratch]
  const command = { name: 'Redis', program: 'redis-server', args, core: cores?.tools }
  await processes.serve(command, join(scratch, 'redis.log')).ready(async () => ((await accepts(port)) ? true : undefined))
  return `redis://127.0.0.1:${port}`
}
