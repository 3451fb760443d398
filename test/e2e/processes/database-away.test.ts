import { expect } from 'chai'
import { openStore } from '../../../core/store/database.ts'
import { onPostgres } from '../../support/databases.ts'
import { until } from '../../support/poll.ts'
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts'
import { Cluster } from './cluster.ts'

onPostgres('Control that is replaced while the database is away', (create) => {
  let url: string
  let server: TcpProxy
  let cluster: Cluster

  before(async () => {
    url = await create()
    server = await startTcpProxy(url)
    cluster = await Cluster.start({}, { UMG_DATABASE_URL: server.url })
  })
  after(async () => {
    await cluster?.stop()
    await server?.close()
  })

  it('serves proxies and metrics, and writes the rows of their calls when the database is back', async () => {
    expect(await cluster.statuses(4)).to.deep.equal([200, 200, 200, 200])
    server.disconnect()
    await cluster.crash('control')
    await cluster.whole()
    expect((await fetch(`${cluster.url}/metrics`)).status).to.equal(200)
    expect((await fetch(`${cluster.url}/readyz`)).status).to.equal(200)
    expect(await cluster.statuses(4)).to.deep.equal([200, 200, 200, 200])
    server.reconnect()
    const store = await openStore(url)
    try {
      await until(async () => (await store.db.selectFrom('calls').select('id').execute()).length === 8)
    } finally {
      await store.close()
    }
  })
})
