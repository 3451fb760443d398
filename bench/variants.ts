import { join } from 'node:path'
import { install } from './install-peer.ts'
import type { Place } from './place.ts'
import { accepts, freePort, type GatewaySettings, type Subject, startGateway } from './subjects.ts'

/** A gateway with other settings, measured to show what they cost. The subject `gateway` has one worker, and limits in its database. */
export interface Variant {
  readonly name: string
  /** A program that it needs beside those of every run. */
  readonly needs?: 'redis-server'
  /** Starts what it needs. Resolves to its settings. */
  prepare(place: Place): Promise<Omit<GatewaySettings, 'name'>>
}

/** A budget of the key, beside its limits, that the benchmark does not spend. */
const BUDGET = { ofKey: ['--budget', '100000 USD/month'] }

// biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of routes.yaml
const KEEPING = '\nkeepResponses: { keys: ["${env:BENCH_KEEPING_KEY}"] }\n'

/** The versions of Node that the gateway supports, from the registry of npm. */
const NODES: readonly string[] = ['24.21.0', '26.10.0']

/** All that can be measured with `--variants`. */
export const VARIANTS: readonly Variant[] = [
  {
    name: 'limits-memory',
    prepare: async () => ({ imports: [new URL('limits-in-memory.ts', import.meta.url)] }),
  },
  { name: 'limits-redis', needs: 'redis-server', prepare: async (place) => ({ flags: await redisFlags(place) }) },
  { name: 'budget', prepare: async () => BUDGET },
  { name: 'budget-redis', needs: 'redis-server', prepare: async (place) => ({ ...BUDGET, flags: await redisFlags(place) }) },
  { name: 'kept-responses', prepare: async () => ({ sections: KEEPING }) },
  { name: 'two-workers', prepare: async () => ({ workers: 2 }) },
  ...NODES.map((version) => ({
    name: `node-${Number.parseInt(version, 10)}`,
    prepare: async (place: Place) => ({ node: await nodeOf(version, place) }),
  })),
]

/** Starts the gateways before the same upstream, and pauses each that serves. */
export async function startVariants(variants: readonly Variant[], place: Place, upstream: number): Promise<readonly Subject[]> {
  const subjects: Subject[] = []
  for (const { name, prepare } of variants) {
    const { subject, service } = await startGateway(place, upstream, { name, ...(await prepare(place)) })
    service.pause()
    subjects.push({ ...subject, peer: service })
  }
  return subjects
}

/** Starts a server that keeps nothing on disk. Resolves to the options of a gateway that uses it. */
async function redisFlags({ processes, scratch, cores }: Place): Promise<readonly string[]> {
  const port = await freePort()
  const args = ['--port', String(port), '--bind', '127.0.0.1', '--save', '', '--appendonly', 'no', '--dir', scratch]
  const command = { name: 'Redis', program: 'redis-server', args, core: cores?.tools }
  await processes.serve(command, join(scratch, 'redis.log')).ready(async () => ((await accepts(port)) ? true : undefined))
  return ['--redis', `redis://127.0.0.1:${port}`]
}

/** Installs a version of Node. Resolves to the path of its program. */
async function nodeOf(version: string, { processes }: Place): Promise<string> {
  const name = `node-linux-${process.arch}`
  const packages = [`${name}@${version}`]
  const folder = await install({ name: `node-${version}`, source: { registry: 'npm', packages }, program: 'node' }, processes)
  return join(folder, 'node_modules', name, 'bin/node')
}
