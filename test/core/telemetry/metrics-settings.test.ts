import { expect } from 'chai'
import { metricsExportSettings } from '../../../core/telemetry/metrics-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const URL = 'http://collector:4318/v1/metrics'

describe('the settings of the export of metrics', () => {
  const offs: readonly NodeJS.ProcessEnv[] = [
    {},
    { OTEL_METRIC_EXPORT_INTERVAL: '1000' },
    { OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'http://collector:4318/v1/traces' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'true' },
    { ...ENDPOINT, OTEL_METRICS_EXPORTER: 'none' },
  ]
  for (const env of offs) it(`are off by ${JSON.stringify(env)}`, () => expect(metricsExportSettings(env)).to.equal(undefined))

  const ons: readonly (readonly [env: NodeJS.ProcessEnv, url: string, intervalMs: number])[] = [
    [ENDPOINT, URL, 60_000],
    [{ OTEL_EXPORTER_OTLP_METRICS_ENDPOINT: 'https://metrics.example.com/in' }, 'https://metrics.example.com/in', 60_000],
    [{ OTEL_METRICS_EXPORTER: 'OTLP', OTEL_METRIC_EXPORT_INTERVAL: '15000' }, 'http://localhost:4318/v1/metrics', 15_000],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'Cumulative' }, URL, 60_000],
  ]
  for (const [env, url, intervalMs] of ons)
    it(`are those of ${JSON.stringify(env)}`, () => expect(metricsExportSettings(env)).to.deep.equal({ url, intervalMs }))

  const invalid: readonly (readonly [env: NodeJS.ProcessEnv, message: string])[] = [
    [{ OTEL_METRICS_EXPORTER: 'prometheus' }, 'is not supported: write otlp or none.'],
    [{ OTEL_EXPORTER_OTLP_METRICS_PROTOCOL: 'http/json' }, 'is not supported: write http/protobuf.'],
    [{ OTEL_EXPORTER_OTLP_METRICS_TEMPORALITY_PREFERENCE: 'delta' }, 'is not supported: write cumulative.'],
    [
      { OTEL_EXPORTER_OTLP_METRICS_DEFAULT_HISTOGRAM_AGGREGATION: 'base2_exponential_bucket_histogram' },
      'is not supported: write explicit_bucket_histogram.',
    ],
    [{ OTEL_METRIC_EXPORT_INTERVAL: '0' }, 'is not valid: write a number from 1 to 2147483647.'],
  ]
  for (const [env, message] of invalid) {
    const [[name, value] = []] = Object.entries(env)
    it(`refuse ${name}=${value}`, () =>
      expect(() => metricsExportSettings({ ...ENDPOINT, ...env })).to.throw(`${name}=${value} ${message}`))
  }
})
