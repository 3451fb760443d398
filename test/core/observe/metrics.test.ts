import { mock } from 'node:test'
import { expect } from 'chai'
import fc from 'fast-check'
import { Metrics } from '../../../core/observe/metrics.ts'
import { scrape, valuesOf } from './exposition.ts'

describe('A scrape', () => {
  it('looks between its parts whether it has kept other work waiting, also within one histogram', async () => {
    const metrics = new Metrics()
    const bounds = Array.from({ length: 16 }, (_, index) => 2 ** index)
    const histogram = metrics.histogram('duration_seconds', 'Durations.', ['model'], bounds)
    /** How often a scrape looks at a clock that stands still: it lets nothing run then. */
    const looks = async (): Promise<number> => {
      const now = performance.now()
      const clock = mock.method(performance, 'now', () => now)
      try {
        await metrics.render()
        return clock.mock.callCount()
      } finally {
        clock.mock.restore()
      }
    }
    const before = await looks()
    // Of each a sample for each bound, and its infinity, sum and count.
    for (let model = 0; model < 1000; model++) histogram.observe(model, `model-${model}`)
    expect(await looks()).to.be.at.least(before + 18)
  })

  it('shows a counter with its help, its type and its series', async () => {
    const metrics = new Metrics()
    const counter = metrics.counter('cache_hits_total', 'Answers from the cache.', ['namespace'])
    counter.add(1, 'openai')
    counter.add(2, 'openai')
    counter.add(5, 'claude')
    const { text, contentType } = await metrics.render()
    expect(contentType).to.equal('text/plain; version=0.0.4; charset=utf-8')
    expect(text).to.include(
      '# HELP cache_hits_total Answers from the cache.\n# TYPE cache_hits_total counter\ncache_hits_total{namespace="openai"} 3\ncache_hits_total{namespace="claude"} 5\n',
    )
  })

  it('shows the current value of a gauge', async () => {
    const metrics = new Metrics()
    const gauge = metrics.gauge('connections', 'Open connections.')
    gauge.set(10)
    gauge.add(-3)
    expect(await valuesOf(metrics, 'connections')).to.deep.equal({ '': 7 })
    gauge.clear()
    expect(await valuesOf(metrics, 'connections')).to.deep.equal({})
  })

  it('shows a histogram with cumulative buckets, each including its bound', async () => {
    const metrics = new Metrics()
    const histogram = metrics.histogram('wait_seconds', 'Waiting.', ['queue'], [0.1, 0.5, 2])
    for (const value of [0.05, 0.1, 0.3, 2, 100]) histogram.observe(value, 'a')
    expect(await valuesOf(metrics, 'wait_seconds_bucket')).to.deep.equal({ '0.1,a': 2, '0.5,a': 3, '2,a': 4, '+Inf,a': 5 })
    expect(await valuesOf(metrics, 'wait_seconds_count')).to.deep.equal({ a: 5 })
    expect(await valuesOf(metrics, 'wait_seconds_sum')).to.deep.equal({ a: 0.05 + 0.1 + 0.3 + 2 + 100 })
  })

  it('shows a metric without labels from the start, at zero', async () => {
    const metrics = new Metrics()
    metrics.counter('empty_total', 'Nothing yet.')
    metrics.histogram('empty_seconds', 'Nothing yet.', [], [1])
    expect(await valuesOf(metrics, 'empty_total')).to.deep.equal({ '': 0 })
    expect(await valuesOf(metrics, 'empty_seconds_count')).to.deep.equal({ '': 0 })
  })

  it('updates gauges that are read rather than counted', async () => {
    const metrics = new Metrics()
    const gauge = metrics.gauge('queue_size', 'Waiting tasks.')
    let size = 1
    metrics.onRender(() => gauge.set(size))
    expect(await valuesOf(metrics, 'queue_size')).to.deep.equal({ '': 1 })
    size = 4
    expect(await valuesOf(metrics, 'queue_size')).to.deep.equal({ '': 4 })
  })

  it("shows the process's own metrics, in every gateway of the process", async () => {
    for (const metrics of [new Metrics(), new Metrics()]) {
      const names = (await scrape(metrics)).map(({ name }) => name)
      expect(names).to.include.members(['process_cpu_seconds_total', 'nodejs_eventloop_lag_p99_seconds'])
    }
  })
})

describe('A metric', () => {
  it('declared again is the same, so that it survives a reload', async () => {
    const metrics = new Metrics()
    metrics.counter('calls_total', 'Calls.', ['a']).add(1, 'x')
    metrics.counter('calls_total', 'Another help text.', ['a']).add(1, 'x')
    expect(await valuesOf(metrics, 'calls_total')).to.deep.equal({ x: 2 })
  })

  it('declared again with other labels has the labels of both, and counts on', async () => {
    const metrics = new Metrics()
    const before = metrics.counter('calls_total', 'Calls.', ['team'])
    before.add(1, 'search')
    const after = metrics.counter('calls_total', 'Calls.', ['app', 'team'])
    after.add(2, '', 'search')
    after.add(4, 'crawler', 'search')
    before.add(8, 'search')
    const totals = new Metrics()
    for (const part of [metrics, metrics]) totals.merge(await part.state())
    for (const [each, times] of [
      [metrics, 1],
      [totals, 2],
    ] as const) {
      const { text } = await each.render()
      expect(text.split('\n').filter((line) => line.startsWith('calls_total'))).to.deep.equal([
        `calls_total{team="search",app=""} ${11 * times}`,
        `calls_total{team="search",app="crawler"} ${4 * times}`,
      ])
    }
  })

  it('cannot be declared again with another type or other buckets', () => {
    const metrics = new Metrics()
    metrics.histogram('wait_seconds', 'Waiting.', ['a', 'b'], [1, 2])
    const exists = /metric wait_seconds exists .*a histogram with labels \[a, b\] and buckets \[1, 2\]\); choose another name/
    expect(() => metrics.histogram('wait_seconds', 'Waiting.', ['a', 'b'], [1, 3])).to.throw(exists)
    expect(() => metrics.counter('wait_seconds', 'Waiting.', ['a', 'b'])).to.throw(exists)
  })

  it("cannot take the name of one of the process's own", () => {
    const taken = () => new Metrics().counter('process_cpu_seconds_total', 'Mine.')
    expect(taken).to.throw('process_cpu_seconds_total has already been registered')
  })

  for (const [why, name, labels, buckets] of [
    ['a metric name is letters', 'my-metric', [], [1]],
    ['a metric name is letters', '__proto__', [], [1]],
    ['a metric name is letters', 'a b 1\n# TYPE x counter', [], [1]],
    ['the label name "not ok" must be letters', 'm', ['not ok'], [1]],
    ['the label name "__name__" must be letters', 'm', ['__name__'], [1]],
    ["the label 'le' belongs to the histogram's own buckets", 'm', ['le'], [1]],
    ['a label name occurs twice', 'm', ['a', 'a'], [1]],
    ['buckets must be finite numbers', 'm', [], []],
    ['buckets must be finite numbers', 'm', [], [1, 1]],
    ['buckets must be finite numbers', 'm', [], [1, Infinity]],
    ['buckets must be finite numbers', 'm', [], [Number.NaN]],
  ] as const) {
    it(`that Prometheus could not scrape is refused: ${JSON.stringify([name, labels, buckets])}`, async () => {
      const metrics = new Metrics()
      expect(() => metrics.histogram(name, 'Help.', labels, buckets)).to.throw(why)
      await scrape(metrics)
    })
  }

  it('requires one value for each label', () => {
    const counter = new Metrics().counter('calls_total', 'Calls.', ['a', 'b'])
    expect(() => counter.add(1, 'x')).to.throw('give one value for each label (a, b), not 1')
    expect(() => counter.add(1, 'x', 'y', 'z')).to.throw('not 3')
  })

  it('refuses a value that is not a finite number', async () => {
    const metrics = new Metrics()
    const counter = metrics.counter('calls_total', 'Calls.')
    const gauge = metrics.gauge('level', 'Level.')
    const histogram = metrics.histogram('wait_seconds', 'Waiting.', [], [1])
    for (const value of [Number.NaN, Infinity, -Infinity]) {
      expect(() => counter.add(value)).to.throw(RangeError)
      expect(() => gauge.set(value)).to.throw('level: the value must be a finite number')
      expect(() => histogram.observe(value)).to.throw(RangeError)
    }
    expect(() => counter.add(-1)).to.throw('calls_total: a counter only grows; add 0 or more, not -1')
    expect(await valuesOf(metrics, 'calls_total')).to.deep.equal({ '': 0 })
    expect(await valuesOf(metrics, 'wait_seconds_sum')).to.deep.equal({ '': 0 })
  })
})

describe('Label values', () => {
  for (const value of ['"} 1\nfake_total{a="', '\\', '\\"', '\\n', 'a,b="c"', '__proto__', '# TYPE', '\u2028', '🌍', ' ', '']) {
    it(`such as ${JSON.stringify(value)} reach Prometheus unchanged, except control characters`, async () => {
      const metrics = new Metrics()
      metrics.counter('calls_total', 'Calls.', ['a', 'b']).add(3, value, 'x')
      const lines = (await scrape(metrics)).filter(({ name }) => name === 'calls_total')
      expect(lines).to.deep.equal([{ name: 'calls_total', labels: { a: value.replace('\n', '\uFFFD'), b: 'x' }, value: 3 }])
    })
  }

  it('of any kind never break the scrape', async () => {
    const metrics = new Metrics()
    const counter = metrics.counter('calls_total', 'Calls.', ['a', 'b'])
    const histogram = metrics.histogram('wait_seconds', 'Waiting.', ['a', 'b'], [1])
    // Control characters, quotes and backslashes come up often; lone surrogates do too.
    const unit = fc.oneof(fc.nat(0x7f), fc.nat(0xffff), fc.constantFrom(0x22, 0x5c, 0x0a, 0xd800, 0xdc00))
    const text = fc.array(unit).map((units) => String.fromCharCode(...units))
    fc.assert(
      fc.property(text, text, (a, b) => {
        counter.add(1, a, b)
        histogram.observe(1, a, b)
      }),
      { numRuns: 500 },
    )
    const values = Object.values(await valuesOf(metrics, 'calls_total'))
    expect(values.reduce((sum, value) => sum + value)).to.equal(500)
  })

  it('that contain NUL are not confused with one another', async () => {
    const metrics = new Metrics()
    const counter = metrics.counter('calls_total', 'Calls.', ['a', 'b', 'c'])
    counter.add(1, 'x\0y', 'z', '')
    counter.add(1, 'x', 'y\0z', '')
    counter.add(1, 'x', 'y', 'z\0')
    expect(Object.values(await valuesOf(metrics, 'calls_total'))).to.deep.equal([1, 1, 1])
  })

  it('are cut if they are very long', async () => {
    const metrics = new Metrics()
    metrics.counter('calls_total', 'Calls.', ['a']).add(1, 'x'.repeat(100_000))
    expect(await valuesOf(metrics, 'calls_total')).to.deep.equal({ ['x'.repeat(200)]: 1 })
  })

  it('past the limit of series become other, and are counted as such', async () => {
    const metrics = new Metrics({ maxSeries: 3 })
    const counter = metrics.counter('calls_total', 'Calls.', ['a', 'b'])
    for (const a of ['1', '2', '3', '4', '5', '1']) counter.add(1, a, 'x')
    expect(await valuesOf(metrics, 'calls_total')).to.deep.equal({ '1,x': 2, '2,x': 1, '3,x': 1, 'other,other': 2 })
    expect(await valuesOf(metrics, 'umg_metrics_overflow_total')).to.deep.equal({ calls_total: 2 })
  })

  it('that are all different make no more than a thousand series', async () => {
    const metrics = new Metrics()
    const counter = metrics.counter('calls_total', 'Calls.', ['a'])
    for (let n = 0; n < 100_000; n++) counter.add(1, `random-${n}`)
    expect(Object.keys(await valuesOf(metrics, 'calls_total'))).to.have.length(1001)
    expect(await valuesOf(metrics, 'umg_metrics_overflow_total')).to.deep.equal({ calls_total: 99_000 })
  })
})
