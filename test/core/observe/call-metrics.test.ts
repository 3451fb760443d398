import { expect } from 'chai'
import { CallMetrics, PluginMetrics } from '../../../core/observe/call-metrics.ts'
import { METRICS } from '../../../core/observe/metric-definitions.ts'
import { Metrics } from '../../../core/observe/metrics.ts'
import { GatewayError } from '../../../core/sdk/api.ts'
import { scrape, valuesOf } from './exposition.ts'
import { attempt, outcome } from './outcome.ts'

describe('The metrics of calls', () => {
  let metrics: Metrics
  let calls: CallMetrics

  const values = (name: string): Promise<Record<string, number>> => valuesOf(metrics, name)

  beforeEach(() => {
    metrics = new Metrics()
    calls = new CallMetrics(metrics, metrics.declare(METRICS.shed))
    calls.declare(new Map(Object.entries({ openai: ['gpt-5.5'], local: [] })))
  })

  it('are zero for the namespaces of the routing table, so that rates see the first call', async () => {
    expect(await values('umg_requests_total')).to.deep.equal({ 'openai,gpt-5.5,200,ok': 0, 'local,other,200,ok': 0 })
    expect(await values('umg_requests_in_flight')).to.deep.equal({ openai: 0, local: 0 })
    expect(await values('umg_stream_aborts_total')).to.deep.equal({ client: 0, upstream: 0 })
  })

  it('count a call by namespace, model, status and outcome', async () => {
    calls.settled(outcome())
    calls.settled(outcome())
    calls.settled(outcome({ kind: 'timeout', status: 504, error: new GatewayError('upstream_timeout') }))
    expect(await values('umg_requests_total')).to.include({ 'openai,gpt-5.5,200,ok': 2, 'openai,gpt-5.5,504,timeout': 1 })
  })

  it('show the calls in flight', async () => {
    const first = calls.started('openai')
    calls.started('openai')
    calls.started('made-up')()
    first()
    expect(await values('umg_requests_in_flight')).to.deep.equal({ openai: 1, local: 0, none: 0 })
  })

  it('time a call, its first token and its output tokens', async () => {
    calls.settled(outcome())
    expect(await values('gen_ai_server_request_duration_seconds_sum')).to.deep.equal({ 'chat,openai/gpt-5.5,': 1 })
    expect(await values('gen_ai_server_time_to_first_token_seconds_sum')).to.deep.equal({ 'chat,openai/gpt-5.5': 0.4 })
    // 0.6 s for the ten tokens after the first
    expect(await values('gen_ai_server_time_per_output_token_seconds_sum')).to.deep.equal({ 'openai/gpt-5.5': 0.06 })
    expect(await values('umg_overhead_seconds_sum')).to.deep.equal({ true: 0.002 })
  })

  it('do not time tokens of unknown number', async () => {
    const one = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
    calls.settled(outcome({ usage: one }))
    calls.settled(outcome({ usageEstimated: true }))
    calls.settled(outcome({ stream: false }))
    calls.settled(outcome({ kind: 'client_closed', status: 499 }))
    expect(await values('gen_ai_server_time_per_output_token_seconds_count')).to.deep.equal({})
    expect(await values('gen_ai_server_time_to_first_token_seconds_count')).to.deep.equal({ 'chat,openai/gpt-5.5': 2 })
  })

  it('count tokens by type; the sum is the number of tokens', async () => {
    const usage = {
      prompt_tokens: 1000,
      completion_tokens: 50,
      total_tokens: 1050,
      prompt_tokens_details: { cached_tokens: 800 },
      completion_tokens_details: { reasoning_tokens: 30 },
    }
    calls.settled(outcome({ usage }))
    calls.settled(outcome({ usage, usageEstimated: true }))
    expect(await values('gen_ai_client_token_usage_sum')).to.deep.equal({
      'openai-compatible,openai/gpt-5.5,input': 2000,
      'openai-compatible,openai/gpt-5.5,output': 100,
      'openai-compatible,openai/gpt-5.5,cached_input': 1600,
      'openai-compatible,openai/gpt-5.5,reasoning': 60,
    })
  })

  it('ignore impossible numbers of tokens from an upstream', async () => {
    for (const tokens of [-1, 1e308, Number.NaN, 0.5, '7']) {
      const usage = { prompt_tokens: tokens as number, completion_tokens: tokens as number, total_tokens: 0 }
      calls.settled(outcome({ usage }))
    }
    expect(await values('gen_ai_client_token_usage_count')).to.deep.equal({})
    expect(await values('umg_requests_total')).to.include({ 'openai,gpt-5.5,200,ok': 5 })
  })

  it('count every attempt at an upstream', async () => {
    const refused = attempt({ namespace: 'local', model: 'qwen', result: 'upstream_unreachable', ms: 10 })
    calls.settled(outcome({ attempts: [refused, attempt({ ms: 500 })] }))
    expect(await values('umg_upstream_attempts_total')).to.deep.equal({
      'local,openai-compatible,upstream_unreachable': 1,
      'openai,openai-compatible,ok': 1,
    })
    expect(await values('gen_ai_client_operation_duration_seconds_sum')).to.deep.equal({
      'openai-compatible,local/other,upstream_unreachable': 0.01,
      'openai-compatible,openai/gpt-5.5,': 0.5,
    })
  })

  it('count fallbacks by both targets and the error', async () => {
    const first = attempt({ namespace: 'local', model: 'qwen', result: 'upstream_timeout' })
    calls.declare(new Map([['local', ['qwen']]]))
    calls.settled(outcome({ attempts: [first, first, attempt({})] }))
    expect(await values('umg_fallbacks_total')).to.deep.equal({
      'openai,gpt-5.5,local/qwen,openai/gpt-5.5,upstream_timeout': 1,
    })
  })

  it('have the error of a call, or its outcome, as a label', async () => {
    calls.settled(outcome({ kind: 'upstream_error', status: 502, error: new GatewayError('upstream_unreachable') }))
    calls.settled(outcome({ kind: 'client_closed', status: 499 }))
    expect(await values('gen_ai_server_request_duration_seconds_count')).to.deep.equal({
      'chat,openai/gpt-5.5,upstream_unreachable': 1,
      'chat,openai/gpt-5.5,client_closed': 1,
    })
  })

  it('count streams that ended early, by side', async () => {
    calls.settled(outcome({ kind: 'client_closed', status: 499 }))
    calls.settled(outcome({ kind: 'upstream_error', error: new GatewayError('upstream_disconnected') }))
    calls.settled(outcome({ kind: 'timeout', error: new GatewayError('upstream_timeout') }))
    calls.settled(outcome({ kind: 'timeout', status: 504, error: new GatewayError('upstream_timeout') }))
    calls.settled(outcome({ kind: 'client_closed', status: 499, stream: false }))
    calls.settled(outcome())
    expect(await values('umg_stream_aborts_total')).to.deep.equal({ client: 1, upstream: 2 })
  })

  it('count a call that ended before its model was known under the namespace none', async () => {
    const error = new GatewayError('invalid_api_key')
    calls.settled(
      outcome({ kind: 'client_error', status: 401, error, model: undefined, served: undefined, attempts: [], usage: undefined }),
    )
    expect(await values('umg_requests_total')).to.include({ 'none,none,401,client_error': 1 })
    expect(await values('gen_ai_server_request_duration_seconds_count')).to.deep.equal({ 'chat,none,invalid_api_key': 1 })
    expect(await values('umg_overhead_seconds_count')).to.deep.equal({})
  })

  it('count a list of models as a request, not as a generation', async () => {
    calls.settled(
      outcome({ endpoint: 'models', model: undefined, served: undefined, attempts: [], usage: undefined, stream: false }),
    )
    expect(await values('umg_requests_total')).to.include({ 'none,none,200,ok': 1 })
    expect(await values('gen_ai_server_request_duration_seconds_count')).to.deep.equal({})
  })

  describe('label a passed-through model', () => {
    const requested = (model: string) => ({ model: { id: `local/${model}`, namespace: 'local', model } })
    const served = (model: string, provider = 'openai-compatible') => ({
      served: { namespace: 'local', model, provider },
      attempts: [attempt({ namespace: 'local', model, provider })],
    })

    const seriesOfCalls = async (): Promise<number> =>
      (await scrape(metrics)).filter(({ name }) => !name.startsWith('nodejs_')).length

    it('once the upstream has served it', async () => {
      const error = new GatewayError('model_not_found')
      calls.settled(outcome({ ...requested('made-up'), kind: 'client_error', status: 404, error, served: undefined }))
      calls.settled(outcome({ ...requested('qwen'), ...served('qwen') }))
      expect(await values('umg_requests_total')).to.include({ 'local,other,404,client_error': 1, 'local,qwen,200,ok': 1 })
      expect(await values('gen_ai_client_operation_duration_seconds_count')).to.include({ 'openai-compatible,local/qwen,': 1 })
    })

    it('not if a plugin or the sandbox answered', async () => {
      calls.settled(outcome({ ...requested('cached'), served: undefined, attempts: [] }))
      calls.settled(outcome({ ...requested('pretended'), ...served('pretended', 'sandbox') }))
      expect(await values('umg_requests_total')).to.include({ 'local,other,200,ok': 2 })
    })

    it('within bounds, whatever clients request', async () => {
      for (let n = 0; n < 1000; n++) calls.settled(outcome({ ...requested(`model-${n}`), ...served(`model-${n}`) }))
      const before = await seriesOfCalls()
      for (let n = 1000; n < 2000; n++) calls.settled(outcome({ ...requested(`model-${n}`), ...served(`model-${n}`) }))
      expect(await seriesOfCalls()).to.equal(before)
      expect(await values('umg_requests_total')).to.include({ 'local,other,200,ok': 1900 })
    })
  })
})

describe('The metrics of plugins', () => {
  it('show the time of each phase of a plugin and its failures', async () => {
    const metrics = new Metrics()
    const plugins = new PluginMetrics(metrics)
    plugins.ran('auth', 'handle', 2)
    plugins.ran('auth', 'handle', 3)
    plugins.failed('./my-audit.ts', 'settled')
    expect(await valuesOf(metrics, 'umg_plugin_duration_seconds_sum')).to.deep.equal({ 'auth,handle': 0.005 })
    expect(await valuesOf(metrics, 'umg_plugin_errors_total')).to.deep.equal({ './my-audit.ts,settled': 1 })
  })
})
