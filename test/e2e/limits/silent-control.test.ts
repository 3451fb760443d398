import { expect } from 'chai'
import { stringify } from 'yaml'
import { Cluster } from '../processes/cluster.ts'

const LIMIT = 40

describe('a limit of a gateway of several processes', () => {
  let cluster: Cluster

  beforeEach(async () => {
    const classes = { standard: { requests: `${LIMIT}/day` } }
    cluster = await Cluster.start({
      'routes.yaml': stringify({
        version: 1,
        chain: [{ plugin: 'auth' }, { plugin: 'rate-tagging', config: { classes, default: 'standard' } }],
        namespaces: { sandbox: { provider: 'sandbox' } },
      }),
    })
  })

  afterEach(() => cluster?.stop())

  /** Makes calls one after the other, each on a connection of its own: they reach all proxies. Resolves to how many were served. */
  async function served(calls: number): Promise<number> {
    let count = 0
    for (let call = 0; call < calls; call++) {
      const reply = await cluster.call('Hi.', { close: true })
      await reply.text()
      expect(reply.status).to.be.oneOf([200, 429, 503])
      if (reply.status === 200) count += 1
    }
    return count
  }

  it('that is spent stays spent while control hangs', async () => {
    let spent = 0
    while (spent < LIMIT) spent += await served(10)
    // Each proxy has learned it.
    expect(spent + (await served(10))).to.equal(LIMIT)
    const control = cluster.pids.get('control')!
    process.kill(control, 'SIGSTOP')
    try {
      expect(await served(LIMIT)).to.equal(0)
    } finally {
      process.kill(control, 'SIGCONT')
    }
  })

  it('is exceeded by at most a tenth if control hangs and all proxies are replaced', async () => {
    let spent = await served(10)
    const control = cluster.pids.get('control')!
    process.kill(control, 'SIGSTOP')
    try {
      spent += await served(LIMIT)
    } finally {
      process.kill(control, 'SIGCONT')
    }
    for (const place of ['proxy-1', 'control', 'proxy-2']) {
      await cluster.crash(place)
      spent += await served(LIMIT / 2)
    }
    expect(spent).to.be.within(1, LIMIT * 1.1)
  })
})
