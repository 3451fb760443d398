import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import OpenAI from 'openai'
import { stringify } from 'yaml'
import type { AdmissionLimits } from '../../core/call/admission.ts'
import type { ManagementOptions, ReloadOutcome } from '../../core/control/services.ts'
import { startGateway } from '../../core/gateway/gateway.ts'
import type { ServingTimes } from '../../core/gateway/services.ts'
import { createKey } from '../../core/keys/keys.ts'
import { createLog } from '../../core/observe/log.ts'
import { Secret } from '../../core/sdk/api.ts'
import { openStore, type Store } from '../../core/store/database.ts'
import type { MetricsExportSettings } from '../../core/telemetry/metrics-settings.ts'
import type { TracingSettings } from '../../core/telemetry/trace-settings.ts'

/** Settings of a test gateway. */
export interface TestGatewayOptions {
  /** The routes.yaml: as text, or as an object to which `version: 1` is added. */
  readonly routes: string | Record<string, unknown>
  /** Further files in the folder of routes.yaml, by name: local plugins. */
  readonly files?: Readonly<Record<string, string>>
  readonly env?: NodeJS.ProcessEnv
  readonly times?: Partial<ServingTimes>
  readonly admission?: Partial<AdmissionLimits>
  readonly metricsToken?: string
  readonly adminListen?: boolean
  readonly corsOrigins?: readonly string[]
  readonly websockets?: boolean
  /**
   * The URL of its database, which threads read and write. Default: a file in its folder, for this gateway alone, without threads: they
   * take four fifths of the CPU time of a start.
   */
  readonly database?: string
  readonly management?: ManagementOptions
  /** The URL of a Redis server for limits. */
  readonly redis?: string
  readonly tracing?: TracingSettings
  readonly metricsExport?: MetricsExportSettings
}

/** A real gateway on a free port, with its own folder, one live and one test key. */
export interface TestGateway {
  /** `http://127.0.0.1:12345` */
  readonly url: string
  readonly adminUrl: string
  /** The folder of its routes.yaml and database. */
  readonly folder: string
  readonly store: Store
  readonly liveKey: string
  readonly testKey: string
  /** Log lines so far, parsed. */
  readonly log: readonly Record<string, unknown>[]
  /** Resolves to the first log line that fits, past or future. */
  logged(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>>
  /** The official SDK with base URL and key set. */
  openai(key?: string): OpenAI
  /** `fetch` with the live key and an optional JSON body. */
  fetch(path: string, init?: RequestInit & { readonly json?: unknown; readonly key?: string }): Promise<Response>
  metrics(): Promise<string>
  /** The sum of the series with these labels, 0 if there is none: `metric('umg_requests_total', { code: '200' })`. */
  metric(name: string, labels?: Readonly<Record<string, string>>): Promise<number>
  reload(): Promise<ReloadOutcome>
  key(options?: Partial<Parameters<typeof createKey>[1]>): Promise<string>
  stop(grace?: number): Promise<void>
}

/** A database without rows. To create its tables takes half the time of a start. */
let emptyDatabase: Promise<Buffer> | undefined

async function createEmptyDatabase(): Promise<Buffer> {
  const folder = await mkdtemp(join(tmpdir(), 'umg-test-'))
  try {
    await (await openStore(`sqlite:${join(folder, 'gateway.db')}`, { threads: false })).close()
    return await readFile(join(folder, 'gateway.db'))
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Starts a gateway. `stop` ends it and removes its folder. */
export async function startTestGateway(options: TestGatewayOptions): Promise<TestGateway> {
  await using opened = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'umg-test-'))
  opened.defer(() => rm(folder, { recursive: true, force: true }))
  const routes = typeof options.routes === 'string' ? options.routes : stringify({ version: 1, ...options.routes })
  await writeFile(join(folder, 'routes.yaml'), routes)
  for (const [name, text] of Object.entries(options.files ?? {})) {
    await mkdir(dirname(join(folder, name)), { recursive: true })
    await writeFile(join(folder, name), text)
  }
  const { database } = options
  if (database === undefined) {
    emptyDatabase ??= createEmptyDatabase()
    await writeFile(join(folder, 'gateway.db'), await emptyDatabase)
  }
  const store = await openStore(database ?? `sqlite:${join(folder, 'gateway.db')}`, { threads: database !== undefined })
  const log = new Log()
  const gateway = await startGateway({
    routes: join(folder, 'routes.yaml'),
    env: options.env ?? {},
    listen: LOOPBACK,
    ...(options.adminListen && { adminListen: LOOPBACK }),
    corsOrigins: options.corsOrigins,
    websockets: options.websockets,
    uploads: join(folder, 'uploads'),
    store,
    log: createLog({ level: 'info', stream: log }),
    version: 'test',
    ...(options.redis !== undefined && { redis: options.redis }),
    tracing: options.tracing,
    metricsExport: options.metricsExport,
    workerThreads: 1,
    ...(options.metricsToken !== undefined && { metricsToken: new Secret(options.metricsToken) }),
    ...(options.times && { times: options.times }),
    // Other tests hold up the event loop.
    admission: { lag: Number.POSITIVE_INFINITY, ...options.admission },
    ...(options.management && { management: options.management }),
  }).catch(async (error: unknown) => {
    await store.close()
    throw error
  })
  let patience = 0
  opened.defer(() => gateway.drain({ delay: 0, grace: patience }))
  const key: TestGateway['key'] = async (more) => (await createKey(store, { name: 'test', kind: 'live', ...more })).secret
  const liveKey = await key()
  const testKey = await key({ kind: 'test' })
  const { url, adminUrl } = gateway

  async function metrics(): Promise<string> {
    return (await fetch(`${adminUrl}/metrics`, { headers: { authorization: `Bearer ${options.metricsToken}` } })).text()
  }

  const all = opened.move()
  return {
    url,
    adminUrl,
    folder,
    store,
    liveKey,
    testKey,
    log: log.lines,
    logged: (fits) => log.first(fits),
    openai: (apiKey = liveKey) => new OpenAI({ baseURL: `${url}/v1`, apiKey }),
    fetch(path, { json, key: secret = liveKey, ...init } = {}) {
      const headers = {
        authorization: `Bearer ${secret}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...init.headers,
      }
      return fetch(url + path, {
        method: json === undefined ? 'GET' : 'POST',
        ...(json !== undefined && { body: JSON.stringify(json) }),
        ...init,
        headers,
      })
    },
    metrics,
    metric: async (name, labels = {}) => sumOf(await metrics(), name, labels),
    reload: () => gateway.reload('signal'),
    key,
    stop(grace = 0) {
      patience = grace
      return all.disposeAsync()
    },
  }
}

const LOOPBACK = { host: '127.0.0.1', port: 0 }

/** Collects log lines, and notifies waiting callers. */
class Log {
  readonly lines: Record<string, unknown>[] = []
  readonly #waiting = new Set<(line: Record<string, unknown>) => void>()

  write(text: string): void {
    const line = JSON.parse(text)
    this.lines.push(line)
    for (const notify of this.#waiting) notify(line)
  }

  first(fits: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> {
    const known = this.lines.find(fits)
    if (known !== undefined) return Promise.resolve(known)
    return new Promise((resolve) => {
      const notify = (line: Record<string, unknown>): void => {
        if (!fits(line)) return
        this.#waiting.delete(notify)
        resolve(line)
      }
      this.#waiting.add(notify)
    })
  }
}

function sumOf(text: string, name: string, labels: Readonly<Record<string, string>>): number {
  let sum = 0
  for (const line of text.split('\n')) {
    const match = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line)
    if (match?.[1] !== name) continue
    const found = Object.fromEntries(
      [...(match[2] ?? '').matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, value]) => [key, value]),
    )
    if (Object.entries(labels).every(([key, value]) => found[key] === value)) sum += Number(match[3])
  }
  return sum
}
