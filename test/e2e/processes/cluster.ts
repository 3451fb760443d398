import { Home, type Umg } from '../lifecycle/umg.ts'

/** A gateway of several processes, as an operator starts it. */
export class Cluster {
  readonly home: Home
  readonly umg: Umg
  readonly url: string
  readonly secret: string

  private constructor(home: Home, umg: Umg, url: string, secret: string) {
    this.home = home
    this.umg = umg
    this.url = url
    this.secret = secret
  }

  /** Starts one with two proxies and the sandbox. `files`: beside or instead of its routes.yaml. `umg`: the command of another installation. */
  static async start(
    files: Readonly<Record<string, string>> = {},
    env: Readonly<Record<string, string>> = {},
    umg?: string,
  ): Promise<Cluster> {
    const home = await Home.create({ 'routes.yaml': ROUTES, ...files })
    const running = home.run(['start', '--port', '0', '--workers', '2', '--drain-delay', '0'], { env, ...(umg && { umg }) })
    const [, url] = await running.prints(/^listening on (\S+)$/m)
    const [secret] = await running.prints(/sk-test-\w+/)
    await running.prints(/"msg":"processes started"/)
    return new Cluster(home, running, url!, secret!)
  }

  /** The ids of the processes that were started last in each place, by the name of the place: `control`, `proxy-1`. */
  get pids(): ReadonlyMap<string, number> {
    const pids = new Map<string, number>()
    for (const line of this.umg.stdout.split('\n')) {
      if (!line.startsWith('{') || !line.endsWith('}')) continue
      const { process, pid, processes = { [process]: pid }, msg } = JSON.parse(line)
      if (!/^process(?:es)? started$/.test(msg)) continue
      for (const [name, id] of Object.entries(processes)) pids.set(name.split('.')[0]!, id as number)
    }
    return pids
  }

  /** Resolves when all processes serve. */
  async whole(): Promise<void> {
    for (;;) {
      // A successor says so; those of the start did before `start` resolved.
      const serving = this.umg.stdout.match(/"msg":"process serves"/g)?.length ?? 0
      const successors = this.umg.stdout.match(/"msg":"process started"/g)?.length ?? 0
      if (serving === successors) return
      await this.umg.printsMore()
    }
  }

  /** Ends a process as a crash would. Resolves when its successor was started. */
  async crash(place: string, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const before = this.pids.get(place)!
    process.kill(before, signal)
    while (this.pids.get(place) === before) await this.umg.printsMore()
  }

  /** Calls a model with the test key. */
  call(
    text = 'Hello!',
    { model = 'sandbox/hello', stream = false, close = false, headers }: CallOptions = {},
  ): Promise<Response> {
    return fetch(`${this.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${this.secret}`,
        'content-type': 'application/json',
        ...(close && { connection: 'close' }),
        ...headers,
      },
      body: JSON.stringify({ model, stream, messages: [{ role: 'user', content: text }] }),
    })
  }

  /** The statuses of concurrent calls, each on a connection of its own: they reach all proxies in turn. */
  statuses(count: number, model?: string): Promise<number[]> {
    return Promise.all(
      Array.from({ length: count }, async () => {
        const reply = await this.call('Hello!', { ...(model && { model }), close: true })
        await reply.text()
        return reply.status
      }),
    )
  }

  /** The value of a series of `/metrics`; undefined if there is none. */
  async metric(series: string): Promise<number | undefined> {
    const text = await (await fetch(`${this.url}/metrics`)).text()
    const line = text.split('\n').find((each) => each.startsWith(`${series} `))
    return line === undefined ? undefined : Number(line.slice(series.length + 1))
  }

  async stop(): Promise<void> {
    this.umg.signal('SIGINT')
    await this.umg.ended
    await this.home.remove()
  }
}

/** Returns what starts the cluster of a test, which ends with the test. Called in a suite. */
export function clusterPerTest(): (...options: Parameters<typeof Cluster.start>) => Promise<Cluster> {
  let cluster: Cluster | undefined

  afterEach(async () => {
    await cluster?.stop()
    cluster = undefined
  })

  return async (...options) => {
    cluster = await Cluster.start(...options)
    return cluster
  }
}

/** Declares that the tests of a suite share a cluster. Each begins when all of its processes serve. */
export function clusterOfSuite(files?: Readonly<Record<string, string>>): () => Cluster {
  let cluster: Cluster

  before(async () => {
    cluster = await Cluster.start(files)
  })
  beforeEach(() => cluster.whole())
  after(() => cluster?.stop())

  return () => cluster
}

interface CallOptions {
  readonly model?: string
  readonly stream?: boolean
  /** On a connection of its own. */
  readonly close?: boolean
  readonly headers?: Readonly<Record<string, string>>
}

const ROUTES = `version: 1
chain:
  - plugin: auth
namespaces:
  sandbox: { provider: sandbox }
`

/** A link whose headers make it lose an error outside of any call or in its call, or block its process for ever. */
export const CARELESS = `import { AsyncResource } from 'node:async_hooks'
import { defineChain } from 'unified-model-gateway/plugin'
export default defineChain({
  kind: 'chain', apiVersion: 1, name: 'careless', schema: {},
  create: (_, __, lose = () => setTimeout(() => { throw new Error('lost') }), outside = AsyncResource.bind(lose)) => ({
    handle(ctx, next) {
      if (ctx.get('x-lose')) outside()
      if (ctx.get('x-lose-call')) return new Promise(lose)
      if (ctx.get('x-block')) {
        process.stdout.write('blocked\\n')
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0)
      }
      return next()
    },
  }),
})
`

/** A routes.yaml with the careless link and one namespace, which the sandbox serves. */
export const withNamespace = (name: string): string => `version: 1
chain: [{ plugin: auth }, { plugin: ./careless.ts }]
namespaces:
  ${name}: { provider: sandbox }
`
