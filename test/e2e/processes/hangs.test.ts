import { expect } from 'chai'
import { until } from '../../support/poll.ts'
import { Home } from '../lifecycle/umg.ts'
import { CARELESS, clusterPerTest, withNamespace } from './cluster.ts'

describe('a process that hangs', () => {
  const start = clusterPerTest()

  it('is replaced if it is a proxy that a plugin blocks for ever: no other call fails', async () => {
    const gateway = await start({ 'routes.yaml': withNamespace('sandbox'), 'careless.ts': CARELESS })
    const before = gateway.pids
    const broken = gateway.call('Hello!', { headers: { 'x-block': 'yes' }, close: true }).then(
      () => false,
      () => true,
    )
    await gateway.umg.prints(/^blocked$/m)
    // Half of these connections go to the blocked proxy, and wait there until another one gets them.
    const others = gateway.statuses(8)
    await gateway.umg.prints(/does not answer, ending it/)
    expect(await broken).to.equal(true)
    expect(new Set(await others)).to.deep.equal(new Set([200]))
    await gateway.umg.prints(/"process started"/)
    expect([...gateway.pids].filter(([place, pid]) => before.get(place) !== pid)).to.have.length(1)
    expect(new Set(await gateway.statuses(4))).to.deep.equal(new Set([200]))
  })

  it('is replaced if it is control: keys in use are served meanwhile', async () => {
    const gateway = await start()
    await gateway.statuses(4)
    process.kill(gateway.pids.get('control')!, 'SIGSTOP')
    await gateway.umg.prints(/does not answer, ending it/)
    expect(new Set(await gateway.statuses(4))).to.deep.equal(new Set([200]))
    await until(async () => (await fetch(`${gateway.url}/console/`)).status === 200)
  })
})

describe('a process that starts slowly', () => {
  it('is not ended: the gateway serves once it has started', async () => {
    const home = await Home.create({ 'routes.yaml': withNamespace('sandbox'), 'careless.ts': CARELESS, 'slow.mjs': SLOW })
    try {
      const umg = home.run(['start', '--port', '0', '--workers', '2'], { env: { NODE_OPTIONS: '--import=./slow.mjs' } })
      await umg.prints(/^listening on \S+$/m)
    } finally {
      await home.remove()
    }
  })
})

/** Lets a proxy answer later than one that serves may, as on a machine without time for it. */
const SLOW = `
import { isMainThread } from 'node:worker_threads'
if (isMainThread && process.env.UMG_SUPERVISED?.includes('"proxy-1.'))
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 11_000)
`
