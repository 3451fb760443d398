import { mock } from 'node:test'
import { expect } from 'chai'
import { ERRORS } from '../../../core/error-table.ts'
import type { Outcome } from '../../../core/sdk/api.ts'
import type { CallsTable } from '../../../core/store/schema.ts'
import { StoreError } from '../../../core/store/unavailable.ts'
import { newRequestId } from '../../../core/text/ids.ts'
import { callRecord } from '../../../core/usage/call-record.ts'
import { CallRecorder } from '../../../core/usage/recorder.ts'
import { outcomeOf } from './outcome.ts'

/** A database that can be unavailable, and counts the attempts to write. */
class Database {
  readonly batches: CallsTable[][] = []
  /** What writes throw. */
  error: Error | undefined
  attempts = 0
  /** If set, writes wait for it. */
  gate: Promise<void> | undefined

  readonly write = async (calls: readonly CallsTable[]): Promise<number> => {
    this.attempts += 1
    await this.gate
    if (this.error !== undefined) throw this.error
    this.batches.push([...calls])
    return calls.length
  }

  get written(): string[] {
    return this.batches.flat().map(({ id }) => id)
  }
}

/** Resolves after all pending promise reactions. */
const settled = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe('the recorder of calls', () => {
  let database: Database
  let recorder: CallRecorder
  let lines: string[]
  /** What the log says to do. */
  let details: unknown[]
  let dropped: number
  let failures: string[]

  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    database = new Database()
    lines = []
    details = []
    dropped = 0
    failures = []
    const log = ({ detail }: { detail?: string }, message: string) => {
      lines.push(message)
      if (detail !== undefined) details.push(detail)
    }
    recorder = new CallRecorder({
      writer: database,
      log: { info: log, warn: log, error: log, writeLine: () => undefined } as never,
      dropped: { add: (count) => (dropped += count) },
      failures: { add: (count, ...labels) => void (count > 0 && failures.push(...labels)) },
    })
  })

  afterEach(() => mock.timers.reset())

  function call(outcome: Partial<Outcome> = {}, tags: Record<string, string> = {}): string {
    const id = newRequestId()
    recorder.record(callRecord(outcomeOf({ outcome }), { id, principal: undefined, tags, headers: {} }))
    return id
  }

  const calls = (count: number): string[] => Array.from({ length: count }, () => call())

  it('writes calls together, a second after the first', async () => {
    const ids = calls(3)
    mock.timers.tick(999)
    expect(database.attempts).to.equal(0)
    mock.timers.tick(1)
    await settled()
    expect(database.written).to.deep.equal(ids)
    expect(database.batches).to.have.length(1)
  })

  it('writes a full batch at once', async () => {
    const ids = calls(2200)
    await settled()
    expect(database.batches.map(({ length }) => length)).to.deep.equal([1000, 1000])
    mock.timers.tick(1000)
    await settled()
    expect(database.written).to.deep.equal(ids)
  })

  it('keeps calls while the database is unavailable, and writes each once when it is available again', async () => {
    database.error = new Error('connection refused')
    const ids = calls(1200)
    await settled()
    mock.timers.tick(1000)
    await settled()
    expect(database.attempts).to.equal(2)
    expect(lines).to.deep.equal(['cannot write usage rows, retrying'])
    expect(failures).to.deep.equal(['internal_error', 'internal_error'])
    database.error = undefined
    mock.timers.tick(1000)
    await settled()
    mock.timers.tick(1000)
    await settled()
    expect(database.written).to.deep.equal(ids)
    expect(lines.at(-1)).to.equal('usage rows written again')
    expect(dropped).to.equal(0)
  })

  it('says why it cannot write and what to do, and says it again when the reason changes', async () => {
    call()
    for (const row of ['storage_busy', 'storage_busy', 'storage_full'] as const) {
      database.error = new StoreError('it fails', { row })
      mock.timers.tick(1000)
      await settled()
    }
    expect(failures).to.deep.equal(['storage_busy', 'storage_busy', 'storage_full'])
    expect(details).to.deep.equal([ERRORS.storage_busy.message, ERRORS.storage_full.message])
  })

  it('keeps ten thousand calls, and counts the others as dropped', async () => {
    database.error = new Error('connection refused')
    const ids = calls(10_250)
    expect(dropped).to.equal(250)
    database.error = undefined
    await recorder.close()
    expect(database.written).to.deep.equal(ids.slice(0, 10_000))
  })

  it('writes all waiting calls when the gateway ends, each once, though a write is in progress', async () => {
    const gate = Promise.withResolvers<void>()
    database.gate = gate.promise
    const ids = calls(2100)
    const closed = recorder.close()
    gate.resolve()
    await closed
    expect(database.written).to.deep.equal(ids)
  })

  it('does not wait for a database that never answers when the gateway ends, and counts the lost calls', async () => {
    database.gate = new Promise(() => {})
    calls(3)
    const closed = recorder.close()
    await settled()
    mock.timers.tick(5000)
    await closed
    expect(dropped).to.equal(3)
    expect(lines).to.deep.equal(['usage rows lost at shutdown'])
  })

  it('finds a call that is not written yet', async () => {
    const id = call({ status: 502 })
    expect(recorder.find(id)).to.include({ id, status: 502 })
    mock.timers.tick(1000)
    await settled()
    expect(recorder.find(id)).to.equal(undefined)
  })

  it('calls a listener with each call until it is removed', () => {
    const ids: string[] = []
    const stopListening = recorder.listen((row) => ids.push(row.id))
    const id = call()
    stopListening()
    call()
    expect(ids).to.deep.equal([id])
  })

  it('records any values of plugins and upstreams', async () => {
    const model = { id: `made/up\0${'x'.repeat(1000)}`, namespace: 'made', model: 'up' }
    const usage = { prompt_tokens: Number.MAX_SAFE_INTEGER, completion_tokens: -1, total_tokens: Number.NaN }
    call({ model, usage, links: [{ name: 'my\0link', ms: 0.0004 }] }, { 'te\0am': 'a\0b', count: 7n as never, loop: {} as never })
    call(
      { links: Array.from({ length: 1000 }, () => ({ name: 'one', ms: 1 })) },
      Object.fromEntries(Array.from({ length: 100 }, (_, number) => [`tag_${number}`, 'value'])),
    )
    await recorder.close()
    const [row, tagged] = database.batches.flat()
    expect(Object.keys(JSON.parse(tagged!.tags))).to.have.length(32)
    expect(JSON.parse(tagged!.links)).to.have.length(100)
    expect(row!.links).to.equal('[{"name":"mylink","ms":0}]')
    expect(row).to.include({ model: `made/up${'x'.repeat(192)}`, input_tokens: 1e9, output_tokens: null, tags: '{"team":"ab"}' })
  })
})
