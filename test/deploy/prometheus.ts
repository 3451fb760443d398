import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { find } from '../support/requirements.ts'

/** A series of an answer: its labels, and its value now. */
export interface Sample {
  readonly metric: Readonly<Record<string, string>>
  readonly value: readonly [time: number, value: string]
}

/** A Prometheus server of a test's own, which scrapes one target as the job `umg`. */
export interface TestPrometheus {
  /** Resolves when what the target serves from now on has been scraped, and can be queried. */
  scraped(): Promise<void>
  /** The answer to an expression. Rejects if it is not valid. */
  query(expression: string): Promise<readonly Sample[]>
  stop(): Promise<void>
}

/** Starts a Prometheus server. `metrics`: the text of the target, in Prometheus' text format. */
export async function startPrometheus(metrics: () => Promise<string>): Promise<TestPrometheus> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-prometheus-'))
  const target = new Target(metrics)
  const config = {
    global: { scrape_interval: '1s', scrape_timeout: '1s' },
    scrape_configs: [{ job_name: 'umg', static_configs: [{ targets: [`127.0.0.1:${await target.listen()}`] }] }],
  }
  await writeFile(join(folder, 'prometheus.yml'), stringify(config))
  const { server, address } = await start(folder)
  return {
    scraped: () => target.scraped(),
    async query(expression) {
      const reply = await fetch(`http://${address}/api/v1/query`, {
        method: 'POST',
        body: new URLSearchParams({ query: expression }),
      })
      const answer = (await reply.json()) as { error?: string; data: { result: readonly Sample[] } }
      if (answer.error !== undefined) throw new Error(`${expression}: ${answer.error}`)
      return answer.data.result
    },
    async stop() {
      server.kill()
      await once(server, 'exit')
      await target.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** One who waits for a scrape. */
interface Waiting {
  /** A scrape that began later has been answered. */
  isAnswered: boolean
  resolve(): void
}

/** What Prometheus scrapes. */
class Target {
  readonly #server: Server
  readonly #waiting = new Set<Waiting>()

  constructor(metrics: () => Promise<string>) {
    this.#server = createServer(async (_, response) => {
      // Prometheus begins a scrape when it has stored the one before.
      for (const waiting of this.#waiting) if (waiting.isAnswered) this.#end(waiting)
      const now = [...this.#waiting]
      // Absent where Prometheus has waited too long: the next scrape counts then.
      response.on('finish', () => {
        for (const waiting of now) waiting.isAnswered = true
      })
      response.setHeader('content-type', 'text/plain; version=0.0.4').end(await metrics())
    })
  }

  async listen(): Promise<number> {
    await once(this.#server.listen(0, '127.0.0.1'), 'listening')
    return (this.#server.address() as AddressInfo).port
  }

  /** Resolves when a scrape that begins from now on is stored. */
  scraped(): Promise<void> {
    return new Promise((resolve) => this.#waiting.add({ isAnswered: false, resolve }))
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  #end(waiting: Waiting): void {
    this.#waiting.delete(waiting)
    waiting.resolve()
  }
}

async function start(folder: string): Promise<{ server: ChildProcess; address: string }> {
  const options = {
    'config.file': join(folder, 'prometheus.yml'),
    'storage.tsdb.path': join(folder, 'data'),
    'web.listen-address': '127.0.0.1:0',
  }
  const args = Object.entries(options).map(([name, value]) => `--${name}=${value}`)
  const server = spawn(find('prometheus')!, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let output = ''
  let address: string | undefined
  // Two lines, in any order.
  for await (const text of server.stderr.setEncoding('utf8').iterator({ destroyOnReturn: false })) {
    output += text
    address = /msg="Listening on" address=(\S+)/.exec(output)?.[1]
    if (address !== undefined && output.includes('Server is ready')) break
  }
  server.stderr.resume()
  if (address === undefined) throw new Error(`prometheus did not start:\n${output}`)
  return { server, address }
}
