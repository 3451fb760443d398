import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import { ERRORS, type ErrorName } from '../../../core/error-table.ts'
import { Secret } from '../../../core/sdk/api.ts'
import { CONTENT } from './calls.ts'
import { FORMS, leaksIn } from './leaks.ts'
import { runWorkload, type Workload } from './workload.ts'

/** Rows of the error table that the workload does not meet: they take time, a bug, or the end of the gateway. */
const UNMET: readonly ErrorName[] = [
  'process_killed',
  'request_timeout',
  'internal_error',
  'service_unavailable',
  'gateway_overloaded',
  'workers_busy',
  'limits_unavailable',
  'storage_busy',
  'storage_full',
  'storage_damaged',
]
/** Those of upstreams that fail again and again, of schemas that an answer does not fit, of what the gateway keeps, of sockets, of budgets, and of people who sign in: other tests look after them. */
const ELSEWHERE: readonly ErrorName[] = [
  'budget_exhausted',
  'price_unknown',
  'upstream_busy',
  'namespace_limit_reached',
  'upstream_circuit_open',
  'upstream_schema_mismatch',
  'unknown_parameter',
  'not_signed_in',
  'sign_in_refused',
  'wrong_password',
  'too_many_sign_in_attempts',
  'too_many_streams',
  'admin_required',
  'confirmation_required',
  'previous_response_not_found',
  'item_not_found',
  'previous_response_unavailable',
  'response_not_found',
  'response_not_in_background',
  'response_without_events',
  'response_under_way',
  'response_process_ended',
  'background_limit_reached',
  'conversation_not_found',
  'conversation_item_not_found',
  'conversations_not_kept',
  'invalid_encrypted_content',
  'kept_responses_unavailable',
  'origin_not_allowed',
  'malformed_handshake',
  'malformed_frame',
  'binary_message',
  'invalid_stream_id',
  'websocket_stream_limit_reached',
  'websocket_queue_full',
  'websocket_connection_limit_reached',
  'foreign_origin',
  'foreign_host',
  'object_not_found',
  'conflict',
  'openid_failed',
  'openid_refused',
  'link_invalid',
  'invalid_routes',
]

describe('No secret leaks', () => {
  let work: Workload
  const { write } = process.stderr
  let printed = ''

  before(async () => {
    process.stderr.write = ((text: string | Uint8Array, ...rest: never[]) => {
      printed += String(text)
      return write.call(process.stderr, text, ...rest)
    }) as typeof write
    work = await runWorkload()
  })

  after(async () => {
    process.stderr.write = write
    await work?.stop()
  })

  it('from calls of every outcome', () => {
    const met = new Set(work.gateway.log.map(({ error }) => error).filter((error) => error !== undefined))
    expect([...met]).to.have.members(Object.keys(ERRORS).filter((row) => ![...UNMET, ...ELSEWHERE].includes(row as ErrorName)))
    expect(work.gateway.log.some(({ outcome }) => outcome === 'ok')).to.equal(true)
  })

  it('into a reply', () => {
    expect(work.replies).to.include(CONTENT.answer)
    expect(leaksIn(work.replies, work.secrets)).to.deep.equal([])
  })

  it('into the log, and no content of calls', () => {
    const log = work.gateway.log.map((line) => JSON.stringify(line)).join('\n')
    expect(leaksIn(log, { ...work.secrets, ...CONTENT })).to.deep.equal([])
  })

  it('into the metrics, and no content of calls', async () => {
    const metrics = await work.gateway.metrics()
    expect(metrics).to.include('umg_requests_total')
    expect(leaksIn(metrics, { ...work.secrets, ...CONTENT })).to.deep.equal([])
  })

  it('into the database, and no content of calls', async () => {
    const files = (await readdir(work.gateway.folder)).filter((name) => name.startsWith('gateway.db'))
    const bytes = await Promise.all(files.map((name) => readFile(join(work.gateway.folder, name), 'latin1')))
    expect(bytes.join('')).to.include('prefix_shown')
    expect(leaksIn(bytes.join('\n'), { ...work.secrets, ...CONTENT })).to.deep.equal([])
  })

  it('to the terminal, and no content of calls', () => {
    expect(leaksIn(printed, { ...work.secrets, ...CONTENT })).to.deep.equal([])
  })

  it('when printed', () => {
    const secret = new Secret('canary-that-nobody-may-see')
    const told = [
      `${secret}`,
      JSON.stringify({ secret }),
      JSON.stringify(Object.entries(secret)),
      `${Object.values({ ...secret })}`,
    ]
    expect(leaksIn(told.join('\n'), { secret: secret.reveal() })).to.deep.equal([])
  })

  for (const [form, spell] of Object.entries(FORMS)) {
    it(`undetected by this test: ${form}`, () => {
      const secret = 'sk-canary"/+%\\é-0123456789'
      for (const spelling of spell(secret)) expect(leaksIn(`x${spelling}x`, { secret })).to.include(`secret (${form})`)
    })
  }
})
