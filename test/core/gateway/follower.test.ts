import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { Follower } from '../../../core/gateway/follower.ts'
import type { ControlPlane } from '../../../core/gateway/planes.ts'
import { openServices, type Services } from '../../../core/gateway/services.ts'
import { NO_VALUES } from '../../../core/kept/value-store.ts'
import { createLog } from '../../../core/observe/log.ts'
import { Metrics } from '../../../core/observe/metrics.ts'

/** A link that is created when the test says so, and tells when it is closed. */
const GATED = `export default {
  kind: 'chain', apiVersion: 1, name: 'gated', schema: { type: 'object' },
  async create({ name }) {
    const { opened, closed } = globalThis.gates.get(name)
    await opened.promise
    return { handle: (ctx, next) => next(), close: () => closed.resolve() }
  },
}
`

const withLink = (name: string): string => `version: 1
chain: [{ plugin: ./gated.mjs, config: { name: ${name} } }]
namespaces: { sandbox: { provider: sandbox } }
`

const NO_CONTROL: ControlPlane = {
  keys: { find: async () => undefined, findAccount: async () => undefined, used: () => undefined, watch: () => () => undefined },
  renewLeases: async () => [],
  recorder: { record: () => undefined },
  values: NO_VALUES,
}

describe('a proxy that follows the control process', () => {
  let folder: string
  let services: Services
  let follower: Follower
  let routes: string
  let gates: Map<string, { readonly opened: PromiseWithResolvers<void>; readonly closed: PromiseWithResolvers<void> }>

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-follower-'))
    await writeFile(join(folder, 'gated.mjs'), GATED)
    routes = join(folder, 'routes.yaml')
    gates = new Map()
    Object.assign(globalThis, { gates })
    const log = createLog({ level: 'silent' })
    services = openServices({ control: NO_CONTROL, log, metrics: new Metrics(), version: '0', workerThreads: 1, env: {} })
    follower = new Follower({ routes, env: {}, services, loadTimeout: 60_000 })
  })

  afterEach(async () => {
    await follower?.close()
    await services?.close()
    await rm(folder, { recursive: true })
    Reflect.deleteProperty(globalThis, 'gates')
  })

  /** Prepares a version whose link is created when the returned gate is opened. */
  function prepare(name: string) {
    const gate = { opened: Promise.withResolvers<void>(), closed: Promise.withResolvers<void>() }
    gates.set(name, gate)
    return { ...gate, prepared: follower.prepare({ [routes]: withLink(name) }) }
  }

  it('changes to the version that it was told of last, although an earlier one is ready later', async () => {
    const first = prepare('first')
    const last = prepare('last')
    last.opened.resolve()
    expect(await last.prepared).to.deep.equal([])
    first.opened.resolve()
    const failure = await first.prepared.catch((error: unknown) => error)
    follower.activate()
    expect(follower.files).to.deep.equal({ [routes]: withLink('last') })
    expect((await follower.live).generation.config.text).to.equal(withLink('last'))
    await first.closed.promise
    expect(failure).to.be.instanceOf(Error)
  })

  it('serves by the version that it was told of last, although an earlier one is not valid', async () => {
    const first = prepare('first')
    const last = prepare('last')
    last.opened.resolve()
    await last.prepared
    first.opened.reject(new Error('no such service'))
    await first.prepared.catch(() => undefined)
    follower.activate()
    expect((await follower.live).generation.config.text).to.equal(withLink('last'))
  })
})
