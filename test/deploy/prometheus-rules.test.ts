import { spawnSync } from 'node:child_process'
import { globSync } from 'node:fs'
import { basename } from 'node:path'
import { expect } from 'chai'
import { parse } from 'yaml'
import { METRICS } from '../../core/observe/metric-definitions.ts'
import { itWith } from '../support/requirements.ts'
import { readText } from '../support/sources.ts'
import { expectKnownMetrics } from './expect-known-metrics.ts'

interface Rule {
  readonly record?: string
  readonly alert?: string
  readonly expr: string
  readonly labels?: { readonly severity: string }
  readonly annotations?: Readonly<Record<'summary' | 'description' | 'runbook_url', string>>
}

interface RuleTests {
  readonly tests: readonly {
    readonly alert_rule_test: readonly { readonly alertname: string; readonly exp_alerts: unknown[] }[]
  }[]
}

const FOLDER = 'deploy/prometheus'
const FILE = `${FOLDER}/umg.rules.yaml`
const TEST_FILES = globSync(`${FOLDER}/*.test.yaml`).sort()

const RULES = (parse(readText(FILE)) as { groups: { rules: Rule[] }[] }).groups.flatMap(({ rules }) => rules)
const ALERTS = RULES.filter(({ alert }) => alert !== undefined)
const RECORDED = new Set(RULES.flatMap(({ record }) => record ?? []))

function promtool(...args: string[]): string {
  const { status, stdout, stderr } = spawnSync('promtool', args, { encoding: 'utf8' })
  return status === 0 ? '' : stdout + stderr
}

describe('the rules for Prometheus', () => {
  itWith('promtool', 'are valid', () => {
    expect(promtool('check', 'rules', FILE)).to.equal('')
    return Promise.resolve()
  })

  for (const file of TEST_FILES) {
    itWith('promtool', `fire when they should, and not before: ${basename(file)}`, () => {
      expect(promtool('test', 'rules', file)).to.equal('')
      return Promise.resolve()
    })
  }

  it('are each tested: once when they fire, and once when they do not', () => {
    const tests = TEST_FILES.flatMap((file) => (parse(readText(file)) as RuleTests).tests)
    const tested = tests.flatMap(({ alert_rule_test }) => alert_rule_test)
    const names = (fires: boolean) =>
      new Set(tested.filter((test) => test.exp_alerts.length > 0 === fires).map((test) => test.alertname))
    const alerts = ALERTS.map(({ alert }) => alert)
    expect([...names(true)]).to.have.members(alerts)
    expect([...names(false)]).to.include.members(alerts)
  })

  it('query metrics and labels that the gateway has', () => {
    for (const { expr } of RULES) expectKnownMetrics(expr, RECORDED)
  })

  it('compare the time to the first token with a bound of its histogram', () => {
    const bounds = RULES.flatMap(({ expr }) => [...expr.matchAll(/le=~"(\d+)\|\1\[\.\]0"/g)]).map(([, bound]) => Number(bound))
    expect(METRICS.timeToFirstToken.buckets).to.include.members(bounds)
    expect(new Set(bounds).size).to.equal(1)
  })

  it('say how urgent they are, what happened, and which runbook helps', () => {
    const headings = Array.from(readText('docs/runbooks.md').matchAll(/^## (\w+)$/gm), ([, heading]) => heading!)
    expect(headings).to.deep.equal(ALERTS.map(({ alert }) => alert))
    for (const { alert = '', labels, annotations } of ALERTS) {
      expect(labels?.severity).to.be.oneOf(['page', 'ticket'])
      expect(Object.keys(annotations!), alert).to.have.members(['summary', 'description', 'runbook_url'])
      expect(annotations!.runbook_url).to.equal(`docs/runbooks.md#${alert.toLowerCase()}`)
    }
  })
})
