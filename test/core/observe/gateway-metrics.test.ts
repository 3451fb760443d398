import { expect } from 'chai'
import { GatewayMetrics } from '../../../core/observe/gateway-metrics.ts'
import { Metrics } from '../../../core/observe/metrics.ts'
import { valuesOf } from './exposition.ts'

describe('The metrics of the gateway itself', () => {
  it('show its version and the version of Node', async () => {
    const metrics = new Metrics()
    new GatewayMetrics(metrics, { version: '1.2.3', workers: { queueSize: 0 } })
    expect(await valuesOf(metrics, 'umg_build_info')).to.deep.equal({ [`1.2.3,${process.versions.node}`]: 1 })
  })

  it('show only the routing table in use', async () => {
    const metrics = new Metrics()
    const gateway = new GatewayMetrics(metrics, { version: '1.2.3', workers: { queueSize: 0 } })
    gateway.configLoaded({ sha256: 'aaa' })
    gateway.configLoaded({ sha256: 'bbb' })
    expect(await valuesOf(metrics, 'umg_config_info')).to.deep.equal({ bbb: 1 })
  })

  it('count reloads from zero, and show whether the last one succeeded', async () => {
    const metrics = new Metrics()
    const gateway = new GatewayMetrics(metrics, { version: '1.2.3', workers: { queueSize: 0 } })
    const successful = () => valuesOf(metrics, 'umg_config_last_reload_successful')
    const reloads = () => valuesOf(metrics, 'umg_config_reloads_total')
    gateway.configLoaded({ sha256: 'aaa' })
    expect([await successful(), await reloads()]).to.deep.equal([{ '': 1 }, { success: 0, failure: 0 }])
    gateway.configReloaded('failure')
    expect([await successful(), await reloads()]).to.deep.equal([{ '': 0 }, { success: 0, failure: 1 }])
    gateway.configLoaded({ sha256: 'bbb' })
    gateway.configReloaded('success')
    expect([await successful(), await reloads()]).to.deep.equal([{ '': 1 }, { success: 1, failure: 1 }])
  })

  it('show how many versions of the routing table serve calls', async () => {
    const metrics = new Metrics()
    const gateway = new GatewayMetrics(metrics, { version: '1.2.3', workers: { queueSize: 0 } })
    const serving = () => valuesOf(metrics, 'umg_config_generations')
    gateway.configLoaded({ sha256: 'aaa' })
    gateway.configLoaded({ sha256: 'bbb' })
    expect(await serving()).to.deep.equal({ '': 2 })
    gateway.configRetired()
    expect(await serving()).to.deep.equal({ '': 1 })
  })

  it('show how many tasks wait for a worker at the time of the scrape', async () => {
    const metrics = new Metrics()
    const workers = { queueSize: 0 }
    new GatewayMetrics(metrics, { version: '1.2.3', workers })
    workers.queueSize = 7
    expect(await valuesOf(metrics, 'umg_worker_queue_size')).to.deep.equal({ '': 7 })
  })
})
