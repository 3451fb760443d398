import { expect } from 'chai'
import { CHAT } from '../../bench/apis.ts'
import type { Measurement } from '../../bench/measure.ts'
import { garbageTable, resultTable, subjectTable, verdictTable, warnOfBusyMachine } from '../../bench/report.ts'
import type { Scenario } from '../../bench/scenarios.ts'
import { type Comparison, comparisonsOf, judge, judgeGarbage, judgeIdle, judgeMemory, judgeRest } from '../../bench/targets.ts'

const judged: Scenario = {
  name: 'judged',
  unit: 'request',
  api: CHAT,
  messages: [],
  connections: 1,
  seconds: 1,
}
const unjudged: Scenario = { ...judged, name: 'unjudged' }
const TARGETS: readonly Comparison[] = [{ scenario: 'judged', subject: 'gateway', reference: 'relay', mostTimes: 4 }]

function rounds(scenario: Scenario, subject: Measurement['subject'], ...cpu: number[]): Measurement[] {
  return cpu.map((one) => ({ scenario, subject, cpu: one, waited: 0.02, perSecond: 1000, p50: 10, p99: 20, firstByte: 5 }))
}

describe('the report of the benchmark', () => {
  it('says that a target is met when the gateway uses exactly what it may', () => {
    const [verdict] = judge([...rounds(judged, 'relay', 20), ...rounds(judged, 'gateway', 80)], TARGETS)
    expect(verdict).to.include({ measured: '4.000 x', met: true })
  })

  it('says that a target is missed when the gateway uses more', () => {
    const [verdict] = judge([...rounds(judged, 'relay', 20), ...rounds(judged, 'gateway', 81)], TARGETS)
    expect(verdict).to.include({ met: false })
    expect(verdictTable([verdict!])).to.contain('| judged | CPU of gateway per request at most 4 x relay | 4.050 x | MISSED |')
  })

  it('does not let one slow round of several miss a target', () => {
    const [verdict] = judge([...rounds(judged, 'relay', 20, 20, 20), ...rounds(judged, 'gateway', 60, 400, 60)], TARGETS)
    expect(verdict).to.include({ measured: '3.000 x', met: true })
  })

  it('compares within rounds: a machine that is slow for some rounds is so for both', () => {
    const [verdict] = judge([...rounds(judged, 'relay', 20, 60, 70), ...rounds(judged, 'gateway', 60, 180, 70)], TARGETS)
    expect(verdict).to.include({ measured: '3.000 x', met: true })
  })

  it('gives no verdict on a scenario without a target', () => {
    expect(judge([...rounds(unjudged, 'relay', 20), ...rounds(unjudged, 'gateway', 900)], [])).to.deep.equal([])
  })

  it('misses a target that could not be measured', () => {
    expect(judge(rounds(judged, 'gateway', 80), TARGETS)[0]).to.include({ met: false })
  })

  it('judges what shared limits cost beside limits in memory, if they were measured', () => {
    const comparison = { scenario: 'unjudged', subject: 'limits-redis', reference: 'limits-memory', mostTimes: 1.03 }
    const memory = rounds(unjudged, 'limits-memory', 100, 110)
    const [verdict] = judge([...memory, ...rounds(unjudged, 'limits-redis', 106, 108)], [comparison])
    expect(verdictTable([verdict!])).to.contain(
      '| unjudged | CPU of limits-redis per request at most 1.03 x limits-memory | 1.021 x | met |',
    )
    expect(judge(memory, [comparison])[0]).to.include({ met: false })
  })

  it('compares what a run has measured', () => {
    const names = (subjects: readonly string[]) => comparisonsOf(subjects, ['small']).map(({ subject }) => subject)
    expect(names(['nginx', 'gateway'])).to.deep.equal([])
    expect(names(['relay', 'gateway'])).to.deep.equal(['gateway'])
    expect(names(['nginx', 'gateway', 'two-workers'])).to.deep.equal(['two-workers'])
    expect(names(['gateway', 'limits-memory', 'budget'])).to.deep.equal(['gateway', 'budget'])
  })

  it('compares a protocol with chat if a run has measured both', () => {
    const beside = (...scenarios: string[]) => comparisonsOf(['gateway'], scenarios).map((one) => one.beside)
    expect(beside('messages', 'responses')).to.deep.equal([])
    expect(beside('messages', 'stream')).to.deep.equal(['stream'])
    expect(beside('responses', 'messages', 'translated', 'stream')).to.deep.equal(['stream', 'translated'])
  })

  it('judges one scenario of the gateway beside another', () => {
    const own: Scenario = { ...unjudged, name: 'own', unit: 'stream' }
    const comparison = { scenario: 'own', subject: 'gateway', reference: 'gateway', beside: 'unjudged', mostTimes: 1.1 }
    const verdictOf = (cpu: number[]) =>
      judge([...rounds(unjudged, 'gateway', 100, 200), ...rounds(own, 'gateway', ...cpu)], [comparison])
    expect(verdictTable(verdictOf([108, 216]))).to.contain(
      '| own | CPU of gateway per stream at most 1.1 x gateway in unjudged | 1.080 x | met |',
    )
    expect(verdictOf([112, 240])).to.have.length(1)
    expect(verdictOf([112, 240])[0]).to.include({ met: false })
  })

  it('judges the slowest calls of a scenario beside its median', () => {
    const tailed = { ...unjudged, name: 'small' }
    const slow = rounds(tailed, 'gateway', 60).map((round) => ({ ...round, p99: 21 }))
    expect(judge(rounds(tailed, 'gateway', 60), [])).to.deep.include.members([
      { scenario: 'small', target: 'p99 of gateway at most 2 x p50', measured: '2.000 x', met: true },
    ])
    expect(judge(slow, [])[0]).to.include({ measured: '2.100 x', met: false })
  })

  it('judges what idle streams cost the gateway, and its memory', () => {
    const cost = { subject: 'gateway', msPerSecond: 30, kibibytes: 45.01 }
    expect(judgeIdle([{ ...cost, subject: 'nginx' }, cost]).map(({ measured, met }) => ({ measured, met }))).to.deep.equal([
      { measured: '30.0 ms per second', met: true },
      { measured: '45.0 KiB', met: false },
    ])
    expect(judgeMemory('two-workers', 200.1)).to.include({
      target: 'memory of a process of two-workers at most 200 MiB',
      met: false,
    })
  })

  it('judges what a small call of the gateway allocates, and shows all that was counted', () => {
    const small = { ...judged, name: 'small' }
    const amounts = [
      { scenario: small, subject: 'relay', kibibytes: 12.34 },
      { scenario: small, subject: 'gateway', kibibytes: 35.06 },
      { scenario: unjudged, subject: 'gateway', kibibytes: 70 },
    ]
    const [verdict, ...others] = judgeGarbage(amounts)
    expect(verdict).to.include({ target: 'garbage of gateway per request at most 35 KiB', measured: '35.1 KiB', met: false })
    expect(others).to.deep.equal([])
    expect(garbageTable(amounts))
      .to.contain('| small | relay | 12.3 / request |')
      .and.contain('| unjudged | gateway | 70.0 / request |')
  })

  it('judges what a gateway costs that serves nothing', () => {
    expect(judgeRest(5)).to.include({ scenario: 'at-rest', measured: '5.0 ms per second', met: true })
    expect(judgeRest(5.1)).to.include({ met: false })
  })

  it('shows the medians, the spread and the multiple of the relay', () => {
    const table = resultTable([...rounds(judged, 'relay', 20, 22), ...rounds(judged, 'gateway', 60, 66)])
    expect(table).to.contain('| judged | gateway | 63.0 / request | 60.0 to 66.0 | 3.00 | 2 % | 1,000 | 10.0 | 20.0 | 5.0 |')
  })

  it('leaves open what was not measured', () => {
    const direct: Measurement = { scenario: judged, subject: 'direct', p50: 10, p99: 20, firstByte: 5 }
    expect(resultTable([direct])).to.contain('| judged | direct | - | - | - | - | - | 10.0 | 20.0 | 5.0 |')
  })

  it('shows a peer beside the relay and the gateway, with its multiple of the relay', () => {
    const table = resultTable([...rounds(judged, 'relay', 20), ...rounds(judged, 'gateway', 60), ...rounds(judged, 'envoy', 50)])
    expect(table).to.contain('| judged | envoy | 50.0 / request | 50.0 to 50.0 | 2.50 | 2 % | 1,000 | 10.0 | 20.0 | 5.0 |')
  })

  it('does not judge the gateway by what a peer uses', () => {
    const [verdict] = judge(
      [...rounds(judged, 'relay', 20), ...rounds(judged, 'gateway', 60), ...rounds(judged, 'envoy', 900)],
      TARGETS,
    )
    expect(verdict).to.include({ measured: '3.000 x', met: true })
  })

  it('leaves open the delay of events whose time was not passed on', () => {
    const [row] = rounds(judged, 'litellm', 60)
    const { p50: _p50, p99: _p99, ...timeless } = row!
    expect(resultTable([timeless])).to.contain('| 1,000 | - | - | 5.0 |')
  })

  it('says what each subject had switched on, its memory, and where and why it was not measured', () => {
    const described = [
      { subject: 'nginx', switchedOn: 'nothing', memory: 20.25 },
      { subject: 'portkey', switchedOn: 'no keys', memory: 246 },
      { subject: 'bifrost', switchedOn: 'metrics' },
    ]
    const failures = [
      { subject: 'portkey', scenario: judged, reason: 'status 500:\n  a | b' },
      { subject: 'portkey', scenario: unjudged, reason: 'x'.repeat(200) },
      { subject: 'bifrost', reason: 'not installed' },
    ]
    expect(subjectTable(described, failures).split('\n')).to.deep.equal([
      '| through | switched on | not measured | memory, MiB |',
      '| --- | --- | --- | ---: |',
      '| nginx | nothing | - | 20.3 |',
      `| portkey | no keys | judged: status 500: a \\| b; unjudged: ${'x'.repeat(160)} … | 246 |`,
      '| bifrost | metrics | all: not installed | - |',
    ])
  })

  it('warns where nginx had to wait for its core', () => {
    const busy = rounds(judged, 'nginx', 20, 20).map((round) => ({ ...round, waited: 0.4 }))
    expect(warnOfBusyMachine(busy)).to.contain('40 %').and.contain('quiet machine')
  })

  it('does not warn of one busy moment', () => {
    const [first, second, third] = rounds(judged, 'nginx', 20, 20, 20)
    expect(warnOfBusyMachine([first!, second!, { ...third!, waited: 0.4 }])).to.equal(undefined)
  })

  it('does not warn where only the gateway waited, as its threads do for each other', () => {
    const [gateway] = rounds(judged, 'gateway', 60)
    expect(warnOfBusyMachine([...rounds(judged, 'nginx', 20), { ...gateway!, waited: 0.4 }])).to.equal(undefined)
  })
})
