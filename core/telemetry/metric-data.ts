import { type HrTime, ValueType } from '@opentelemetry/api'
import {
  AggregationTemporality,
  type DataPoint,
  DataPointType,
  type Histogram,
  type HistogramMetricData,
  type MetricData,
} from '@opentelemetry/sdk-metrics'
import { CONVENTION_NAMES } from '../observe/metric-definitions.ts'
import type { MetricFamily, MetricSample } from '../observe/metrics.ts'

/** From when values were counted, and when they were read. Milliseconds since 1970. */
export interface Period {
  readonly from: number
  readonly to: number
}

type Labels = Readonly<Record<string, string>>

/** The units of names in Prometheus' spelling, by OpenTelemetry's codes. */
const UNITS = [
  [/_seconds(?:_total)?$/, 's'],
  [/_bytes(?:_total)?$/, 'By'],
] as const

/** A metric of a scrape in OpenTelemetry's form: the same numbers, cumulative since the gateway's start; without those that are not finite. */
export function metricDataOf({ name, help, type, values }: MetricFamily, { from, to }: Period): MetricData {
  const convention = CONVENTION_NAMES.metrics[name]
  const toPoint = <Value>(labels: Labels, value: Value): DataPoint<Value> => ({
    startTime: timeOf(from),
    endTime: timeOf(to),
    attributes: attributesOf(labels, convention === undefined ? {} : CONVENTION_NAMES.labels),
    value,
  })
  const common = {
    descriptor: {
      name: convention?.name ?? name,
      description: help,
      unit: convention?.unit ?? UNITS.find(([ending]) => ending.test(name))?.[1] ?? '',
      valueType: ValueType.DOUBLE,
    },
    aggregationTemporality: AggregationTemporality.CUMULATIVE,
  }
  if (type === 'histogram') return { ...common, ...histogramOf(values, toPoint) }
  const dataPoints = values.filter(({ value }) => Number.isFinite(value)).map((sample) => toPoint(labelsOf(sample), sample.value))
  if (type === 'counter') return { ...common, dataPointType: DataPointType.SUM, isMonotonic: true, dataPoints }
  return { ...common, dataPointType: DataPointType.GAUGE, dataPoints }
}

/** A series of a histogram, while its samples are read: its buckets are cumulative. */
interface Buckets {
  readonly labels: Labels
  readonly buckets: [bound: number, count: number][]
  sum: number
}

function histogramOf(
  samples: readonly MetricSample[],
  toPoint: (labels: Labels, value: Histogram) => DataPoint<Histogram>,
): Pick<HistogramMetricData, 'dataPointType' | 'dataPoints'> {
  const series = new Map<string, Buckets>()
  for (const sample of samples) {
    const { le, ...labels } = labelsOf(sample)
    const key = JSON.stringify(labels)
    const one = series.get(key) ?? { labels, buckets: [], sum: 0 }
    series.set(key, one)
    if (le !== undefined) one.buckets.push([le === '+Inf' ? Infinity : Number(le), sample.value])
    else if (sample.metricName?.endsWith('_sum')) one.sum = sample.value
  }
  const dataPoints = Array.from(series.values(), ({ labels, buckets, sum }) => {
    const counts = buckets.map(([, count], index) => count - (buckets[index - 1]?.[1] ?? 0))
    const boundaries = buckets.map(([bound]) => bound).slice(0, -1)
    return toPoint(labels, { sum, count: buckets.at(-1)![1], buckets: { boundaries, counts } })
  })
  return { dataPointType: DataPointType.HISTOGRAM, dataPoints }
}

const labelsOf = ({ sharedLabels, labels }: MetricSample): Labels =>
  Object.fromEntries(Object.entries({ ...sharedLabels, ...labels }).map(([name, value]) => [name, String(value)]))

/** A label without a value is one that the series does not have. */
const attributesOf = (labels: Labels, names: Labels): Labels =>
  Object.fromEntries(
    Object.entries(labels)
      .filter(([, value]) => value !== '')
      .map(([name, value]) => [names[name] ?? name, value]),
  )

/** Seconds and nanoseconds. */
const timeOf = (ms: number): HrTime => [Math.floor(ms / 1000), (ms % 1000) * 1e6]
