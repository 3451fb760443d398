import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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

async function start(port: number, folder: string): Promise<ChildProcess> {
  const options = { port: String(port), bind: '127.0.0.1', dir: folder, save: '', appendonly: 'no' }
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
