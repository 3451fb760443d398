import type { Message, MessageFields } from './protobuf.ts'

// The messages of https://github.com/open-telemetry/opentelemetry-proto, with the numbers of their fields.

/** The fields of a metric, by those of an attribute. */
export function metricFields(attribute: MessageFields): MessageFields {
  const number: MessageFields = {
    2: ['start', 'fixed64'],
    3: ['time', 'fixed64'],
    4: ['value', 'double'],
    7: ['attributes', [() => attribute]],
  }
  const histogram: MessageFields = {
    2: ['start', 'fixed64'],
    3: ['time', 'fixed64'],
    4: ['count', 'fixed64'],
    5: ['sum', 'double'],
    6: ['counts', 'fixed64s'],
    7: ['bounds', 'doubles'],
    9: ['attributes', [() => attribute]],
  }
  const points = (point: MessageFields): MessageFields => ({
    1: ['points', [() => point]],
    2: ['temporality', 'uint'],
    3: ['isMonotonic', 'uint'],
  })
  return {
    1: ['name', 'text'],
    2: ['help', 'text'],
    3: ['unit', 'text'],
    5: ['gauge', () => points(number)],
    7: ['sum', () => points(number)],
    9: ['histogram', () => points(histogram)],
  }
}

/** A metric that a collector has received. */
export interface ReceivedMetric {
  readonly name: string
  readonly unit: string | undefined
  readonly type: 'counter' | 'gauge' | 'histogram'
  readonly points: readonly ReceivedPoint[]
}

/** A series of a metric at one time. */
export interface ReceivedPoint {
  readonly attributes: Readonly<Record<string, string | number | boolean>>
  /** Nanoseconds since 1970. */
  readonly start: bigint
  readonly time: bigint
  /** The number, or the sum of a histogram. */
  readonly value: number
  /** Of a histogram: the values up to each bound, and above the last. */
  readonly buckets?: { readonly bounds: readonly number[]; readonly counts: readonly number[] }
}

const CUMULATIVE = 2

/** The metric of a message. Throws if it is not cumulative. */
export function metricOf({ name, unit, gauge, sum, histogram }: Message, attributesOf: AttributesOf): ReceivedMetric {
  const { points, temporality, isMonotonic } = (gauge ?? sum ?? histogram) as Message
  if (gauge === undefined && temporality !== CUMULATIVE) throw new Error(`${name} is not cumulative`)
  if (sum !== undefined && isMonotonic !== 1) throw new Error(`${name} is a sum that may fall`)
  return {
    ...({ name, unit } as Pick<ReceivedMetric, 'name' | 'unit'>),
    type: gauge === undefined ? (sum === undefined ? 'histogram' : 'counter') : 'gauge',
    points: ((points ?? []) as Message[]).map((point) => ({
      ...(point as Pick<ReceivedPoint, 'start' | 'time'>),
      attributes: attributesOf(point),
      value: (point.value ?? point.sum) as number,
      ...(histogram !== undefined && { buckets: bucketsOf(point) }),
    })),
  }
}

type AttributesOf = (point: Message) => ReceivedPoint['attributes']

function bucketsOf({ count, counts, bounds }: Message): ReceivedPoint['buckets'] {
  const buckets = { bounds: bounds as number[], counts: counts as number[] }
  if (Number(count) !== buckets.counts.reduce((one, other) => one + other, 0)) throw new Error('buckets that are not all values')
  return buckets
}
