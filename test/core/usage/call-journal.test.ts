import { spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import fc from 'fast-check'
import type { AttemptRecord, Usage } from '../../../core/sdk/api.ts'
import type { CallsTable } from '../../../core/store/schema.ts'
import { newRequestId } from '../../../core/text/ids.ts'
import { CallJournal } from '../../../core/usage/call-journal.ts'
import { findJournals } from '../../../core/usage/journal-files.ts'
import { JournalReplay } from '../../../core/usage/journal-replay.ts'
import { lineOf, type ServedCall } from '../../../core/usage/served-call.ts'
import { itWith } from '../../support/requirements.ts'

const USAGE: Usage = {
  prompt_tokens: 12,
  completion_tokens: 3,
  total_tokens: 15,
  prompt_tokens_details: { cached_tokens: 8 },
}
const COST = { nanoUsd: 123_456, price: 'routes.yaml up/m' }

const attempt = (result: string): AttemptRecord => ({
  namespace: 'up',
  model: 'm',
  provider: 'openai-compatible',
  result,
  start: 1,
  ms: 7,
})

const call = (id: string): ServedCall => ({
  id,
  principal: { account: 'acc_1', keyId: 'key_1', tags: { team: 'search' } },
  tags: { tier: 'gold' },
  endpointName: 'chat.completions',
  model: { id: 'up/m', namespace: 'up', model: 'm' },
  stream: {},
  charge: { usage: USAGE, estimated: false, cost: COST },
  times: { elapsed: () => ({ total: 9 }) },
  trace: { traceId: '4bf92f3577b34da6a3ce929d0e0e4736' },
})

/** A process that has ended: nobody holds its lock. */
const ENDED = '00000000-0000-4000-8000-000000000000'

describe('the journal of calls', () => {
  let folder: string
  let journal: CallJournal
  let warnings: number

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-journal-'))
    warnings = 0
    replays.length = 0
    written.clear()
    journal = new CallJournal({ folder, log })
  })

  const log = {
    warn() {
      warnings += 1
    },
  }

  afterEach(async () => {
    journal?.close()
    await rm(folder, { recursive: true })
  })

  /** What was told of lines that cannot be read: their number, and the log. */
  let damaged: number
  let told: Record<string, unknown>[]

  /** What was told of journals that were read. */
  const replays: object[] = []
  /** The ids of calls that have rows. */
  const written = new Set<string>()

  /** The rows that are written of ended processes. */
  async function replayed(): Promise<readonly CallsTable[]> {
    const rows: CallsTable[] = []
    damaged = 0
    told = []
    const writer = {
      async write(some: readonly CallsTable[]) {
        rows.push(...some)
        return some.filter(({ id }) => !written.has(id)).length
      },
    }
    const log = {
      info: (fields: object) => void replays.push(fields),
      warn: (fields: object) => void told.push({ ...fields }),
    } as never
    const onDamaged = (lines: number): void => {
      damaged += lines
    }
    const replay = new JournalReplay({ folder, writer, written: async () => undefined, log, onDamaged })
    await replay.close()
    return rows
  }

  const journals = async () => (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))

  /** Makes the files those of a process that has ended. */
  async function end(change = (text: string): string | Buffer => text): Promise<void> {
    journal.flush()
    for (const name of await journals()) {
      const text = await readFile(join(folder, name), 'utf8')
      await writeFile(join(folder, `${ENDED}-${/(\d+)\.jsonl$/.exec(name)![1]}.jsonl`), change(text))
    }
  }

  it('has each call before anything that follows, and its row once its process has ended', async () => {
    const id = newRequestId()
    journal.note(call(id), attempt('ok'))
    await Promise.resolve()
    await end()
    const [row, ...others] = await replayed()
    expect(others).to.deep.equal([])
    expect(row).to.include({
      id,
      account_id: 'acc_1',
      key_id: 'key_1',
      endpoint: 'chat.completions',
      model: 'up/m',
      stream: 1,
      status: 200,
      outcome: 'ok',
      served: 1,
      input_tokens: 12,
      output_tokens: 3,
      cached_tokens: 8,
      reasoning_tokens: null,
      cost: 123_456,
      currency: 'USD',
      price: 'routes.yaml up/m',
      total_us: 9000,
      trace_id: '4bf92f3577b34da6a3ce929d0e0e4736',
    })
    expect(JSON.parse(row!.tags)).to.deep.equal({ team: 'search', tier: 'gold' })
    expect(await replayed()).to.deep.equal([])
  })

  it('is not read while its process runs', async () => {
    journal.note(call(newRequestId()), attempt('ok'))
    journal.flush()
    expect(await replayed()).to.deep.equal([])
    expect(await journals()).to.have.length(1)
  })

  it('has the last attempt of a call; without one that served it, the gateway has failed it', async () => {
    const [first, second] = [newRequestId(), newRequestId()]
    journal.note(call(first), attempt('upstream_timeout'))
    journal.note(call(second), attempt('upstream_timeout'))
    journal.note(call(first), attempt('ok'))
    journal.flush()
    await end()
    const rows = await replayed()
    expect(rows.map(({ id, outcome, served, cost }) => [id, outcome, served, cost])).to.deep.equal([
      [first, 'ok', 1, 123_456],
      [second, 'gateway_error', 0, 123_456],
    ])
  })

  it('skips a line that was not written whole', async () => {
    const id = newRequestId()
    journal.note(call(id), attempt('ok'))
    await end((text) => `${text}[1,"req_cut","acc`)
    expect((await replayed()).map((row) => row.id)).to.deep.equal([id])
    expect(damaged).to.equal(0)
  })

  /** A line with one of its fields replaced. */
  const withField =
    (index: number, value: unknown) =>
    (line: string): string =>
      JSON.stringify((JSON.parse(line) as unknown[]).with(index, value))

  const DAMAGE: Readonly<Record<string, (line: string) => string>> = {
    'a half': (line) => line.slice(0, line.length / 2),
    'NUL bytes': (line) => '\0'.repeat(line.length),
    'an empty line': () => '',
    'an empty list': () => '[]',
    null: () => 'null',
    'an object': () => '{"v":1}',
    'a line of a later version': withField(0, 2),
    'a line with fewer fields': (line) => JSON.stringify((JSON.parse(line) as unknown[]).slice(0, 8)),
    'an id that is none': withField(1, 'key_1'),
    'an id that is a number': withField(1, 7),
    'an account that is an object': withField(2, {}),
    'an endpoint that is a number': withField(6, 5),
    'an attempt that is none': withField(9, null),
    'tokens that are a text': withField(10, '12'),
    'a cost that is none': withField(15, { nanoUsd: 'free', price: 1 }),
    'a time that is no number': withField(16, 'soon'),
  }

  for (const [what, spoil] of Object.entries(DAMAGE))
    it(`loses the call alone whose line is damaged: ${what}`, async () => {
      const ids = Array.from({ length: 5 }, () => newRequestId())
      for (const id of ids) journal.note(call(id), attempt('ok'))
      await end((text) => {
        const lines = text.split('\n')
        expect(spoil(lines[2]!)).to.not.equal(lines[2])
        return lines.map((line, index) => (index === 2 ? spoil(line) : line)).join('\n')
      })
      const rows = await replayed()
      expect(rows.map(({ id }) => id)).to.deep.equal(ids.filter((_, index) => index !== 2))
      expect(damaged).to.equal(1)
      expect(told).to.have.length(1)
      expect(told[0]).to.include({ lines: 1, line: 3, file: join(folder, `${ENDED}-1.jsonl.damaged`) })
      expect(await readdir(folder)).to.include(`${ENDED}-1.jsonl.damaged`)
      expect(await replayed(), 'a file that is set aside is not read again').to.deep.equal([])
    })

  it('loses no other call, whatever byte is cut or changed', async () => {
    const ids = Array.from({ length: 4 }, () => newRequestId())
    for (const id of ids) journal.note(call(id), attempt('ok'))
    journal.flush()
    const [name] = await journals()
    const bytes = await readFile(join(folder, name!))
    const ends = [...bytes.entries()].filter(([, byte]) => byte === 0x0a).map(([at]) => at)
    const lineAt = (at: number): number => ends.filter((end) => end < at).length
    const damage = fc.record({ at: fc.nat(bytes.length - 1), byte: fc.option(fc.nat(255), { nil: undefined }) })
    await fc.assert(
      fc.asyncProperty(damage, async ({ at, byte }) => {
        const changed = byte === undefined ? Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]) : Buffer.from(bytes)
        if (byte !== undefined) changed[at] = byte
        await writeFile(join(folder, `${ENDED}-1.jsonl`), changed)
        const found = (await replayed()).map(({ id }) => id)
        // A line end that is gone joins two lines; any other byte is of one.
        const touched = bytes[at] === 0x0a ? [lineAt(at), lineAt(at) + 1] : [lineAt(at)]
        expect(found).to.include.members(ids.filter((_, index) => !touched.includes(index)))
        await rm(join(folder, `${ENDED}-1.jsonl.damaged`), { force: true })
      }),
      { numRuns: 300 },
    )
  })

  it('of one process does not stop those of others that cannot be read', async () => {
    const id = newRequestId()
    journal.note(call(id), attempt('ok'))
    await end()
    await mkdir(join(folder, '11111111-1111-4111-8111-111111111111-1.jsonl'))
    await symlink(join(folder, 'loop'), join(folder, 'loop'))
    expect((await replayed()).map((row) => row.id)).to.deep.equal([id])
  })

  itWith('namespaces', 'is not read while its process runs in another container', async () => {
    const files = new URL('../../../core/usage/journal-files.ts', import.meta.url).href
    const script = `
      const { JournalLock, journalPath } = await import('${files}')
      const fs = await import('node:fs')
      const lock = new JournalLock('${folder}')
      fs.writeFileSync(journalPath('${folder}', lock.process, 1), '')
      process.stdout.write('locked')
      setInterval(() => {}, 1000)`
    const child = spawn('unshare', ['--pid', '--fork', '--kill-child', process.execPath, '--input-type=module', '-e', script])
    await once(child.stdout, 'data')
    expect((await findJournals(folder)).map(({ isEnded }) => isEnded)).to.deep.equal([false])
    child.kill('SIGKILL')
    await once(child, 'close')
    expect((await findJournals(folder)).map(({ isEnded }) => isEnded)).to.deep.equal([true])
  })

  it('is whole on a disk that fills and empties', async () => {
    const { writeSync } = fs
    let disk: 'has room' | 'has room for a part' | 'is full' = 'has room'
    // A nearly full disk takes a part without an error, and then nothing.
    fs.writeSync = ((descriptor: number, bytes: Buffer, at = 0) => {
      if (disk === 'is full') throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      if (disk === 'has room') return writeSync(descriptor, bytes, at)
      disk = 'is full'
      return writeSync(descriptor, bytes, at, 20)
    }) as typeof fs.writeSync
    syncBuiltinESMExports()
    const ids: string[] = []
    try {
      for (const state of ['has room', 'has room', 'has room for a part', 'has room'] as const) {
        disk = state
        const id = newRequestId()
        journal.note(call(id), attempt('ok'))
        journal.flush()
        ids.push(id)
      }
    } finally {
      fs.writeSync = writeSync
      syncBuiltinESMExports()
    }
    // After the failure the journal pauses; what it had is whole.
    ids.splice(2)
    await end()
    expect((await replayed()).map((row) => row.id)).to.deep.equal(ids)
    expect(damaged).to.equal(0)
    expect(warnings).to.equal(1)
  })

  it('of the version before, whose lines had no version, is read after an upgrade', async () => {
    const id = newRequestId()
    const [, ...fields] = JSON.parse(lineOf(call(id), attempt('ok'))) as readonly unknown[]
    // No process has the id 0.
    await writeFile(join(folder, '0-1-1.jsonl'), `${JSON.stringify(fields)}\n`)
    const [row] = await replayed()
    expect(row).to.include({ id, account_id: 'acc_1', input_tokens: 12, cost: 123_456, served: 1 })
    expect(damaged).to.equal(0)
    expect(await readdir(folder)).to.deep.equal([])
  })

  itWith('linux', 'of a process that still runs a version without locks is not read', async () => {
    const stat = await readFile(`/proc/${process.pid}/stat`, 'latin1')
    const start = stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19]
    await writeFile(join(folder, `${process.pid}-${start}-1.jsonl`), '')
    await replayed()
    expect(await journals()).to.have.length(1)
  })

  it('whose calls all have rows is removed without a line in the log', async () => {
    const id = newRequestId()
    journal.note(call(id), attempt('ok'))
    await end()
    written.add(id)
    await replayed()
    expect(replays).to.deep.equal([])
    expect(await journals()).to.have.length(1)
  })

  it('needs no file for calls that have rows', async () => {
    const ids = Array.from({ length: 8000 }, () => newRequestId())
    for (const id of ids) {
      journal.note(call(id), attempt('ok'))
      journal.flush()
    }
    expect((await journals()).length).to.be.greaterThan(1)
    journal.done(ids.map((id) => ({ id })))
    expect(await journals()).to.have.length(1)
    journal.close()
    expect(await readdir(folder)).to.deep.equal([])
  })

  it('that cannot be written fails no call, and is logged once', async () => {
    const file = join(folder, 'file')
    await writeFile(file, '')
    const nowhere = new CallJournal({ folder: join(file, 'journal'), log })
    for (let count = 0; count < 3; count++) nowhere.note(call(newRequestId()), attempt('ok'))
    nowhere.close()
    expect(warnings).to.equal(1)
  })
})
