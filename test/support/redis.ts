import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createClient } from '@redis/client'
import { find } from './requirements.ts'

/** A Redis server of a test's own. */
export interface TestRedis {
  readonly url: string
  /** Ends it as a power failure would, and starts it again at the same address, empty. */
  restart(): Promise<void>
  /** Ends it as a power failure would. */
  kill(): Promise<void>
  stop(): Promise<void>
}

/** Starts a Redis server that keeps nothing on disk. */
export async function startRedis(): Promise<TestRedis> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-redis-'))
  const port = await freePort()
  let server = await start(port, folder)
  const kill = async (): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  return {
    url: `redis://127.0.0.1:${port}`,
    kill,
    async restart() {
      await kill()
      server = await start(port, folder)
    },
    async stop() {
      await kill()
      await rm(folder, { recursive: true })
    },
  }
}

/** For a storage whose connection is not observed. */
export const NO_LISTENER = { onError: () => undefined, onReady: () => undefined }

/** Three Redis servers that are a cluster. */
export interface TestRedisCluster {
  /** Of one of them. */
  readonly url: string
  /** How many keys each has. */
  keys(): Promise<readonly number[]>
  /** Ends one, but not that of the URL. */
  killOne(): Promise<void>
  stop(): Promise<void>
}

const SLOTS = 16_384

/** Starts a cluster without replicas. What the others have is served when one is gone. */
export async function startRedisCluster(): Promise<TestRedisCluster> {
  const nodes = await Promise.all(
    Array.from({ length: 3 }, async () => {
      const folder = await mkdtemp(join(tmpdir(), 'umg-redis-'))
      const port = await freePort()
      const options = {
        'cluster-enabled': 'yes',
        'cluster-port': String(await freePort()),
        'cluster-require-full-coverage': 'no',
      }
      const server = await start(port, folder, options)
      const client = createClient({ url: `redis://127.0.0.1:${port}` })
      client.on('error', () => undefined)
      await client.connect()
      return { server, folder, port, bus: options['cluster-port'], client }
    }),
  )
  const [first, , last] = nodes as [(typeof nodes)[0], (typeof nodes)[0], (typeof nodes)[0]]
  for (const [index, { client, port, bus }] of nodes.entries()) {
    const [from, to] = [index, index + 1].map((part) => Math.floor((SLOTS * part) / nodes.length)) as [number, number]
    await client.sendCommand(['CLUSTER', 'ADDSLOTSRANGE', String(from), String(to - 1)])
    await first.client.sendCommand(['CLUSTER', 'MEET', '127.0.0.1', String(port), bus])
  }
  const isComplete = async ({ client }: (typeof nodes)[0]): Promise<boolean> => {
    const info = String(await client.sendCommand(['CLUSTER', 'INFO']))
    return info.includes('cluster_state:ok') && info.includes(`cluster_slots_assigned:${SLOTS}`)
  }
  for (const node of nodes) while (!(await isComplete(node))) await new Promise(setImmediate)
  const end = async (server: ChildProcess): Promise<void> => {
    if (server.exitCode !== null || server.signalCode !== null) return
    server.kill('SIGKILL')
    await once(server, 'exit')
  }
  return {
    url: `redis://127.0.0.1:${first.port}`,
    keys: () => Promise.all(nodes.map(async ({ client }) => Number(await client.sendCommand(['DBSIZE'])))),
    killOne: () => end(last.server),
    async stop() {
      for (const { client, server, folder } of nodes) {
        client.destroy()
        await end(server)
        await rm(folder, { recursive: true })
      }
    },
  }
}

async function start(port: number, folder: string, further: Readonly<Record<string, string>> = {}): Promise<ChildProcess> {
  const options = { port: String(port), bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no', ...further }
  const args = Object.entries(options).flatMap(([name, value]) => [`--${name}`, value])
  const server = spawn(find('redis')!, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  let output = ''
  for await (const text of server.stdout.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text
    if (output.includes('Ready to accept connections')) break
  }
  server.stdout.resume()
  if (!output.includes('Ready')) throw new Error(`redis-server did not start:\n${output}`)
  return server
}

/** A port that was free a moment ago. */
async function freePort(): Promise<number> {
  const probe = createServer().listen(0, '127.0.0.1')
  await once(probe, 'listening')
  const { port } = probe.address() as { readonly port: number }
  await new Promise((resolve) => probe.close(resolve))
  return port
}
