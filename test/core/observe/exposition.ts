import type { Metrics } from '../../../core/observe/metrics.ts'

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{(.*)\})? (\S+)$/s
const LABEL = /([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/y
// prom-client writes `Nan` for the mean of no values; Go's ParseFloat accepts it.
const NUMBER = /^(?:[+-]?(?:\d+(?:\.\d+)?(?:e[+-]?\d+)?|Inf)|Nan)$/

/** One line of a scrape. */
export interface Line {
  readonly name: string
  readonly labels: Readonly<Record<string, string>>
  readonly value: number
}

/**
 * Scrapes as Prometheus does, and throws if it would refuse the text: a line that is not of the format 0.0.4, a duplicate series, a
 * sample of no declared metric.
 */
export async function scrape(metrics: Metrics): Promise<Line[]> {
  // Over the wire the text is UTF-8.
  const text = Buffer.from((await metrics.render()).text).toString()
  const declared = new Set(Array.from(text.matchAll(/^# TYPE (\S+) (?:counter|gauge|histogram)$/gm), ([, name]) => name))
  const seen = new Set<string>()
  return text
    .split('\n')
    .filter((line) => line !== '' && !line.startsWith('#'))
    .map((line) => {
      const sample = parse(line)
      const series = JSON.stringify([sample.name, Object.entries(sample.labels).sort()])
      if (seen.has(series)) throw new Error(`duplicate series: ${line}`)
      seen.add(series)
      const family = sample.name.replace(/_(?:bucket|sum|count)$/, '')
      if (!declared.has(sample.name) && !declared.has(family)) throw new Error(`no TYPE for: ${line}`)
      return sample
    })
}

/** The samples of one name: label values joined by commas, and the number. */
export async function valuesOf(metrics: Metrics, name: string): Promise<Record<string, number>> {
  const lines = (await scrape(metrics)).filter((line) => line.name === name)
  return Object.fromEntries(lines.map(({ labels, value }) => [Object.values(labels).join(','), value]))
}

function parse(line: string): Line {
  const [, name = '', labelText = '', number = ''] = SAMPLE.exec(line) ?? []
  if (!NUMBER.test(number)) throw new Error(`not a sample: ${line}`)
  const labels: Record<string, string> = {}
  LABEL.lastIndex = 0
  while (LABEL.lastIndex < labelText.length) {
    const label = LABEL.exec(labelText)
    if (label === null) throw new Error(`not a list of labels: ${line}`)
    labels[label[1] as string] = (label[2] as string).replace(/\\(.)/g, (_, char) => (char === 'n' ? '\n' : char))
  }
  return { name, labels, value: Number(number.replace('Inf', 'Infinity')) }
}
