import { expect } from 'chai'
import { CARELESS, clusterPerTest, until, withNamespace } from './cluster.ts'

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
