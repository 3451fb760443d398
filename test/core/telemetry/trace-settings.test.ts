import { expect } from 'chai'
import { tracingSettings } from '../../../core/telemetry/trace-settings.ts'

const ENDPOINT = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318' }
const URL = 'http://collector:4318/v1/traces'
const ALL = { ratio: 1, isParentBased: true }

describe('the settings of tracing', () => {
  const offs: readonly NodeJS.ProcessEnv[] = [
    {},
    { OTEL_SERVICE_NAME: 'models' },
    { OTEL_EXPORTER_OTLP_ENDPOINT: '' },
    { ...ENDPOINT, OTEL_SDK_DISABLED: 'TRUE' },
    { ...ENDPOINT, OTEL_TRACES_EXPORTER: 'none' },
  ]
  for (const env of offs) it(`are off by ${JSON.stringify(env)}`, () => expect(tracingSettings(env)).to.equal(undefined))

  const urls: readonly (readonly [env: NodeJS.ProcessEnv, url: string])[] = [
    [ENDPOINT, URL],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://collector:4318/' }, URL],
    [{ ...ENDPOINT, OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: 'https://traces.example.com/in' }, 'https://traces.example.com/in'],
    [{ OTEL_TRACES_EXPORTER: 'otlp' }, 'http://localhost:4318/v1/traces'],
  ]
  for (const [env, url] of urls)
    it(`have the URL of ${JSON.stringify(env)}`, () =>
      expect(tracingSettings(env)).to.deep.equal({ url, sampling: ALL, delayMs: 5000 }))

  const samplers: readonly (readonly [env: NodeJS.ProcessEnv, sampling: object])[] = [
    [{ OTEL_TRACES_SAMPLER: 'always_off' }, { ratio: 0, isParentBased: false }],
    [
      { OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { ratio: 0.25, isParentBased: false },
    ],
    [
      { OTEL_TRACES_SAMPLER: 'parentbased_traceidratio', OTEL_TRACES_SAMPLER_ARG: '0.25' },
      { ratio: 0.25, isParentBased: true },
    ],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_traceidratio' }, ALL],
    [{ OTEL_TRACES_SAMPLER: 'parentbased_always_on', OTEL_TRACES_SAMPLER_ARG: '0.25' }, ALL],
  ]
  for (const [env, sampling] of samplers)
    it(`sample by ${JSON.stringify(env)}`, () =>
      expect(tracingSettings({ ...ENDPOINT, ...env })?.sampling).to.deep.equal(sampling))

  const contents: readonly (readonly [env: NodeJS.ProcessEnv, limit: number | undefined])[] = [
    [{ OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100' }, undefined],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'false' }, undefined],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'NO_CONTENT' }, undefined],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'SPAN_ONLY' }, 8192],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'true', OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '100' }, 100],
  ]
  for (const [env, limit] of contents)
    it(`capture ${limit ?? 'no'} characters by ${JSON.stringify(env)}`, () =>
      expect(tracingSettings({ ...ENDPOINT, ...env })?.contentLimit).to.equal(limit))

  const invalid: readonly (readonly [env: NodeJS.ProcessEnv, message: string])[] = [
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318' }, 'is not a URL: write one such as http://localhost:4318.'],
    [{ OTEL_TRACES_EXPORTER: 'zipkin' }, 'is not supported: write otlp or none.'],
    [{ OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: 'grpc' }, 'is not supported: write http/protobuf.'],
    [{ OTEL_TRACES_SAMPLER: 'jaeger_remote' }, 'is not supported: write always_on, always_off,'],
    [{ OTEL_TRACES_SAMPLER: 'traceidratio', OTEL_TRACES_SAMPLER_ARG: '50' }, 'is not valid: write a number from 0 to 1.'],
    [{ OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT: 'EVENT_ONLY' }, 'is not supported: write span_only, true,'],
    [{ OTEL_SPAN_ATTRIBUTE_VALUE_LENGTH_LIMIT: '70000' }, 'is not valid: write a number from 0 to 65536.'],
    [{ OTEL_BSP_SCHEDULE_DELAY: '5s' }, 'is not valid: write a number from 0 to 2147483647.'],
  ]
  for (const [env, message] of invalid) {
    const [name, value] = Object.entries(env).at(-1)!
    it(`refuse ${name}=${value}`, () =>
      expect(() => tracingSettings({ ...ENDPOINT, ...env })).to.throw(`${name}=${value} ${message}`))
  }
})
