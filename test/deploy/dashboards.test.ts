import { expect } from 'chai'
import { parse } from 'yaml'
import { createAccount } from '../../core/accounts/accounts.ts'
import { GATEWAY } from '../../core/accounts/audit.ts'
import { createKey } from '../../core/keys/keys.ts'
import { json, openaiReply, sse } from '../../core/testing/kit.ts'
import { DASHBOARDS } from '../../deploy/grafana/dashboards.ts'
import { type BudgetGateway, type PricedUpstream, pricedUpstream, startBudgetGateway } from '../e2e/budgets/fixture.ts'
import { describeWith } from '../support/requirements.ts'
import { readText } from '../support/sources.ts'
import { expectKnownMetrics } from './expect-known-metrics.ts'
import { startPrometheus, type TestPrometheus } from './prometheus.ts'

const PANELS = DASHBOARDS.flatMap(({ title, rows }) =>
  Object.values(rows).flatMap((panels) => panels.map((panel) => ({ ...panel, dashboard: title }))),
)

const REPLY = openaiReply({ text: 'Hello!', usage: { prompt_tokens: 10, completion_tokens: 100, total_tokens: 110 } })

describe('the dashboards', () => {
  it('have panels with names of their own', () => {
    for (const { title, rows } of DASHBOARDS) {
      const titles = Object.values(rows).flatMap((panels) => panels.map((panel) => panel.title))
      expect(titles, title).to.deep.equal([...new Set(titles)])
    }
  })

  it('query metrics that the gateway has, with legends of labels that remain', () => {
    for (const [query, legend] of PANELS.flatMap(({ queries }) => Object.entries(queries))) {
      expectKnownMetrics(query)
      const shown = Array.from(legend.matchAll(/\{\{(\w+)\}\}/g), ([, name]) => name!)
      const kept = new Set([...query.matchAll(/by \(([^)]*)\)/g)].flatMap(([, labels]) => labels!.split(', ')))
      expect([...kept], query).to.include.members(shown)
    }
  })

  it('are what Grafana is told to load, from a data source that is there', () => {
    const folder = 'deploy/grafana/provisioning'
    const { datasources } = parse(readText(`${folder}/datasources/prometheus.yaml`))
    expect(datasources).to.have.length(1)
    const { providers } = parse(readText(`${folder}/dashboards/umg.yaml`))
    expect(providers[0].options.path).to.equal('/etc/grafana/dashboards')
    for (const { name } of DASHBOARDS) {
      const { templating, uid } = JSON.parse(readText(`deploy/grafana/dashboards/${name}.json`))
      expect(uid).to.match(/^[\w-]{1,40}$/)
      expect(templating.list[0]).to.include({ name: 'datasource', type: 'datasource', query: datasources[0].type })
    }
  })

  describeWith('prometheus', 'on a server that has scraped a gateway with calls', () => {
    let priced: PricedUpstream
    let started: BudgetGateway
    let prometheus: TestPrometheus

    before(async () => {
      priced = await pricedUpstream()
      priced.upstream.on((request) => {
        const { model, stream } = request.json() as { model: string; stream?: boolean }
        if (model === 'token') return json({ error: { message: 'No.' } }, { status: 500 })
        return stream ? sse(REPLY.stream) : json(REPLY.whole)
      })
      started = await startBudgetGateway({ routes: priced.routes() })
      prometheus = await startPrometheus(() => started.gateway.metrics())
      const { store } = started.gateway
      const { id } = await createAccount(
        store,
        { name: 'Research', models: ['*'], rateClass: null, budgets: ['9 USD/month'] },
        GATEWAY,
      )
      const { secret } = await createKey(store, { name: 'ci', kind: 'live', account: id })
      // A rate needs two scrapes, and calls between them.
      for (let round = 0; round < 3; round++) {
        const statuses = [
          ...(await started.statuses(secret, 2)),
          ...(await started.statuses(secret, 2, { stream: true })),
          ...(await started.statuses(secret, 1, { model: 'up/token' })),
        ]
        expect(statuses).to.deep.equal([200, 200, 200, 200, 502])
        await prometheus.scraped()
      }
    })

    after(async () => {
      await prometheus?.stop()
      await started?.gateway.stop()
      await priced?.close()
    })

    for (const { dashboard, title, queries, rare } of PANELS) {
      it(`have a panel that ${rare ? 'can be queried' : 'shows something'}: ${dashboard}, ${title}`, async () => {
        for (const query of Object.keys(queries)) {
          const samples = await prometheus.query(query.replaceAll('$__rate_interval', '1m').replaceAll('$job', 'umg'))
          if (rare) continue
          expect(
            samples.some(({ value: [, value] }) => Number.isFinite(Number(value))),
            query,
          ).to.equal(true)
        }
      })
    }
  })
})
