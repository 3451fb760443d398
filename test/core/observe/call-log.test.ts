import { expect } from 'chai'
import { callLine, type LoggedCall } from '../../../core/observe/call-log.ts'
import { createLog, type Log } from '../../../core/observe/log.ts'
import { GatewayError, type Outcome } from '../../../core/sdk/api.ts'
import { LogLines } from './log-lines.ts'
import { attempt, outcome } from './outcome.ts'

const CALL: LoggedCall = {
  id: 'req_1',
  principal: { keyId: 'key_1', name: 'nightly', kind: 'live', account: 'acme', models: [] },
  tags: { team: 'search' },
  headers: {},
}

function logCall(log: Log, settled: Outcome, call: LoggedCall): void {
  const { level, fields } = callLine(settled, call)
  log.writeLine(level, fields, 'call')
}

function logged(settled: Outcome, call: Partial<LoggedCall> = {}): Record<string, unknown> {
  const lines = new LogLines()
  logCall(createLog({ level: 'info', stream: lines }), settled, { ...CALL, ...call })
  expect(lines.parsed).to.have.length(1)
  return lines.parsed[0] ?? {}
}

describe('The log line of a call', () => {
  it('has the key, the model, the target, the times and the tokens', () => {
    const { time: _, ...line } = logged(outcome())
    expect(line).to.deep.equal({
      level: 'info',
      msg: 'call',
      id: 'req_1',
      endpoint: 'chat.completions',
      stream: true,
      key: 'key_1',
      account: 'acme',
      namespace: 'openai',
      model: 'gpt-5.5',
      served: 'openai/gpt-5.5',
      status: 200,
      outcome: 'ok',
      ms: 1000,
      firstByteMs: 400,
      overheadMs: 2,
      tokens: { input: 20, output: 11 },
      estimated: false,
      tags: { team: 'search' },
    })
  })

  it('is written whatever a plugin has tagged the call with', () => {
    const tags: Record<string, unknown> = { team: 'search', count: 3n }
    tags.self = tags
    const line = logged(outcome(), { tags: tags as Record<string, string> })
    expect(line).to.include({ msg: 'call', id: 'req_1', status: 200 })
    expect(line.tags).to.include({ team: 'search', count: 3 })
  })

  it('is JSON, whatever a plugin has tagged the call with: the process that has the database writes it', () => {
    const tags: Record<string, unknown> = { team: 'search', count: 3n, on: true }
    tags.self = tags
    const { fields } = callLine(outcome(), { ...CALL, tags: tags as Record<string, string> })
    expect(JSON.parse(JSON.stringify(fields)).tags).to.deep.equal({ team: 'search', count: 3, on: true })
  })

  it('is left out if the log has a higher level', () => {
    const lines = new LogLines()
    logCall(createLog({ level: 'warn', stream: lines }), outcome(), CALL)
    expect(lines.parsed).to.deep.equal([])
  })

  it('has the error, its fault and its cause', () => {
    const cause = Object.assign(new Error('CANARY'), { code: 'UND_ERR_SOCKET' })
    const error = new GatewayError('upstream_disconnected', { cause })
    const line = logged(
      outcome({ kind: 'upstream_error', status: 502, error, attempts: [attempt({ result: 'upstream_error' })] }),
    )
    expect(line).to.include({
      level: 'warn',
      outcome: 'upstream_error',
      error: 'upstream_disconnected',
      fault: 'upstream',
      cause: 'UND_ERR_SOCKET',
    })
  })

  it('has every attempt if there were several, or the only one failed', () => {
    const attempts = [
      attempt({ namespace: 'local', model: 'qwen', result: 'upstream_timeout', ms: 5 }),
      attempt({ start: 6, ms: 7 }),
    ]
    expect(logged(outcome({ attempts })).attempts).to.deep.equal([
      { to: 'local/qwen', result: 'upstream_timeout', start: 1, ms: 5 },
      { to: 'openai/gpt-5.5', result: 'ok', start: 6, ms: 7 },
    ])
    expect(logged(outcome({ attempts: attempts.slice(0, 1) })).attempts).to.have.length(1)
  })

  it("has the level error for a failure of the gateway, and info for a client's error", () => {
    const internal = new GatewayError('internal_error')
    expect(logged(outcome({ kind: 'gateway_error', status: 500, error: internal })).level).to.equal('error')
    expect(logged(outcome({ kind: 'client_error', status: 400 })).level).to.equal('info')
  })

  it('is written for a call that was refused before its model was known', () => {
    const error = new GatewayError('invalid_api_key', { values: { key: 'sk-li***wjh3' } })
    const refused = outcome({
      kind: 'client_error',
      status: 401,
      error,
      model: undefined,
      served: undefined,
      attempts: [],
      usage: undefined,
      times: { total: 1.23456, overhead: 1.2 },
    })
    const { time: _, ...line } = logged(refused, { principal: undefined, tags: {} })
    expect(line).to.deep.equal({
      level: 'info',
      msg: 'call',
      id: 'req_1',
      endpoint: 'chat.completions',
      stream: true,
      status: 401,
      outcome: 'client_error',
      error: 'invalid_api_key',
      fault: 'caller',
      ms: 1.235,
      overheadMs: 1.2,
    })
  })

  it("has the client's own request id and its retry count", () => {
    const line = logged(outcome(), { headers: { 'x-client-request-id': 'job_7-b', 'x-stainless-retry-count': '2' } })
    expect(line).to.include({ clientRequestId: 'job_7-b', clientRetry: 2 })
    expect(logged(outcome(), { headers: { 'x-request-id': 'from-proxy' } })).to.include({ clientRequestId: 'from-proxy' })
  })

  for (const value of ['', 'a b', 'x'.repeat(65), 'a\nb', '\x1b[31m', 'é', '{"a":1}']) {
    it(`leaves out a client's request id such as ${JSON.stringify(value)}`, () => {
      expect(logged(outcome(), { headers: { 'x-client-request-id': value } })).not.to.have.property('clientRequestId')
      expect(logged(outcome(), { headers: { 'x-stainless-retry-count': value } })).not.to.have.property('clientRetry')
    })
  }

  it('is one line of bounded length, whatever model a client requests', () => {
    const model = `x\n{"level":"error"}${'y'.repeat(100_000)}`
    const line = logged(outcome({ model: { id: `openai/${model}`, namespace: 'openai', model } }))
    expect(String(line.model)).to.equal(model.slice(0, 200))
  })

  it("holds no secret and nothing of the request's or the reply's content", () => {
    const canary = 'CANARY'
    const error = new GatewayError('upstream_rejected', {
      cause: new Error(canary, { cause: canary }),
      values: { detail: canary },
      param: canary,
      code: canary,
      headers: { 'retry-after': canary },
    })
    const usage = { prompt_tokens: canary as unknown as number, completion_tokens: 1, total_tokens: 1, [canary]: canary }
    const lines = new LogLines()
    logCall(createLog({ level: 'info', stream: lines }), outcome({ kind: 'client_error', status: 400, error, usage }), {
      ...CALL,
      headers: { authorization: `Bearer ${canary}`, cookie: canary, 'x-api-key': canary, 'x-forwarded-for': canary },
    })
    expect(lines.text).not.to.include(canary)
  })
})
