import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import fs from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
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
    journal = new CallJournal({ folder, log, onLost })
    lost = 0
  })

  const log = {
    info: () => undefined,
    warn() {
      warnings += 1
    },
  }

  /** The lines that had no room, neither in a file nor in memory. */
  let lost: number
  const onLost = (): void => {
    lost += 1
  }

  afterEach(async () => {
    journal?.close()
    await rm(folder, { recursive: true })
  })

  /** What was told of lines and journals that cannot be read: their number, and the log. */
  let damaged: number
  let unreadable: number
  let told: Record<string, unknown>[]

  /** What was told of journals that were read. */
  const replays: object[] = []
  /** The ids of calls that have rows. */
  const written = new Set<string>()

  /** The rows that are written of ended processes. */
  async function replayed(): Promise<readonly CallsTable[]> {
    const rows: CallsTable[] = []
    damaged = 0
    unreadable = 0
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
    const onUnreadable = (): void => {
      unreadable += 1
    }
    const replay = new JournalReplay({ folder, writer, written: async () => undefined, log, onDamaged, onUnreadable })
    await replay.close()
    return rows
  }

  /** Of a file: its place in the order in which a process writes them. */
  const numberOf = (name: string): number => Number(/(\d+)\.jsonl$/.exec(name)![1])

  /** The text of all files. */
  const journalText = async () =>
    (await Promise.all((await journals()).map((name) => readFile(join(folder, name), 'utf8')))).join('')

  const journals = async () => (await readdir(folder)).filter((name) => name.endsWith('.jsonl'))

  /** Makes the files those of a process that has ended. */
  async function end(change = (text: string): string | Buffer => text): Promise<void> {
    journal.flush()
    for (const name of await journals()) {
      const text = await readFile(join(folder, name), 'utf8')
      await writeFile(join(folder, `${ENDED}-${numberOf(name)}.jsonl`), change(text))
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

  it('has a call whatever a plugin has tagged it with: the tags that are texts', async () => {
    const circular: Record<string, unknown> = { team: 'search', count: 1n }
    circular.self = circular
    const tags = circular as Record<string, string>
    const ids = [newRequestId(), newRequestId()]
    for (const id of ids)
      journal.note({ ...call(id), tags, principal: { account: 1n as never, keyId: 'key_1', tags } }, attempt('ok'))
    await Promise.resolve()
    await end()
    const rows = await replayed()
    expect(rows.map(({ id }) => id)).to.have.members(ids)
    for (const row of rows) expect(JSON.parse(row.tags)).to.deep.equal({ team: 'search' })
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

  it('has what an attempt under way would be charged, until it ends without any tokens', async () => {
    const [open, ended] = [newRequestId(), newRequestId()]
    const unpaid = (id: string) => ({ ...call(id), charge: undefined })
    const charge = { usage: USAGE, estimated: true, cost: COST }
    journal.note(unpaid(open), attempt('process_killed'), charge)
    journal.note(unpaid(ended), attempt('process_killed'), charge)
    journal.flush()
    journal.note(unpaid(ended), attempt('upstream_timeout'))
    await end()
    const rows = await replayed()
    expect(
      rows.map(({ id, error, estimated, cost, output_tokens: tokens }) => [id, error, estimated, cost, tokens]),
    ).to.deep.equal([
      [open, 'process_killed', 1, 123_456, 3],
      [ended, 'process_killed', 0, null, null],
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

  /** Lets `work` run on a disk that has room for so many bytes; each number is for the writes until the function it gets is called. */
  async function onDisk(work: (hasRoomFor: (bytes: number) => void) => Promise<void>): Promise<void> {
    const { writeSync } = fs
    let room = Number.POSITIVE_INFINITY
    // A nearly full disk takes a part without an error, and then nothing.
    fs.writeSync = ((descriptor: number, bytes: Buffer, at: number) => {
      if (room === 0) throw Object.assign(new Error('no space left'), { code: 'ENOSPC' })
      const written = writeSync(descriptor, bytes, at, Math.min(bytes.length - at, room))
      room -= written
      return written
    }) as typeof fs.writeSync
    syncBuiltinESMExports()
    try {
      await work((bytes) => {
        room = bytes
      })
    } finally {
      fs.writeSync = writeSync
      syncBuiltinESMExports()
    }
  }

  /** The pause after a failed write. */
  const RETRY_MS = 1000

  /** A line as a version before lines had versions has written it. */
  const unversioned = (line: string): string => JSON.stringify((JSON.parse(line) as unknown[]).slice(1))

  /** What may happen to a file: at a byte of it, with another byte. `length`: of what is then not as it was. */
  const SPOILS: Readonly<Record<string, { readonly length: number; spoil(bytes: Buffer, at: number, byte: number): Buffer }>> = {
    'the end is cut off': { length: Number.POSITIVE_INFINITY, spoil: (bytes, at) => bytes.subarray(0, at) },
    'a byte is missing': { length: 1, spoil: (bytes, at) => Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + 1)]) },
    'a byte is changed': { length: 1, spoil: (bytes, at, byte) => Buffer.from(bytes.with(at, byte)) },
    'a byte is added': {
      length: 1,
      spoil: (bytes, at, byte) => Buffer.concat([bytes.subarray(0, at), Buffer.of(byte), bytes.subarray(at)]),
    },
    'a block is empty': { length: 512, spoil: (bytes, at) => Buffer.from(bytes).fill(0, at, Math.min(at + 512, bytes.length)) },
  }

  /** Calls that are noted, on a disk that has room for so many bytes, and whether the pause after a failure passes then. */
  const steps = fc.array(
    fc.record({
      call: fc.nat(5),
      result: fc.constantFrom('ok', 'upstream_timeout'),
      room: fc.option(fc.nat(800), { nil: Number.POSITIVE_INFINITY }),
      passes: fc.boolean(),
    }),
    { minLength: 1, maxLength: 12 },
  )
  const accident = fc.record({
    what: fc.constantFrom(...Object.keys(SPOILS)),
    file: fc.nat(),
    at: fc.nat(),
    byte: fc.nat(255),
    isOld: fc.boolean(),
  })

  it('loses the lines concerned alone, whatever happens to the disk and to a file, and whichever version has written it', async () => {
    await fc.assert(
      fc.asyncProperty(steps, accident, async (noted, { what, file, at, byte, isOld }) => {
        await rm(folder, { recursive: true })
        const ids = Array.from({ length: 6 }, () => newRequestId())
        const last = new Map(noted.map((step) => [ids[step.call]!, step.result]))
        mock.timers.enable({ apis: ['setTimeout'] })
        const writing = new CallJournal({ folder, log, onLost })
        await onDisk(async (hasRoomFor) => {
          for (const { call: index, result, room, passes } of noted) {
            hasRoomFor(room)
            writing.note(call(ids[index]!), attempt(result))
            writing.flush()
            if (passes) mock.timers.tick(RETRY_MS)
          }
          hasRoomFor(Number.POSITIVE_INFINITY)
          mock.timers.tick(RETRY_MS)
        }).finally(() => mock.timers.reset())
        writing.close()

        const names = (await journals()).toSorted((a, b) => numberOf(a) - numberOf(b))
        const spoiled = file % names.length
        const lines: { id: string; isTouched: boolean }[] = []
        for (const [index, name] of names.entries()) {
          const text = await readFile(join(folder, name), 'utf8')
          const bytes = Buffer.from(isOld ? text.replace(/.+/g, unversioned) : text)
          const from = at % bytes.length
          const { length, spoil } = SPOILS[what]!
          let start = 0
          for (const line of bytes.toString().split('\n').slice(0, -1)) {
            const end = start + line.length
            // A line end is of the line before it and of the one after it.
            const isTouched = index === spoiled && end >= from && start <= from + length
            lines.push({ id: /req_\w+/.exec(line)![0], isTouched })
            start = end + 1
          }
          await rm(join(folder, name))
          await writeFile(join(folder, `${ENDED}-${index}.jsonl`), index === spoiled ? spoil(bytes, from, byte) : bytes)
        }
        const rows = new Map((await replayed()).map(({ id, served }) => [id, served === 1 ? 'ok' : 'upstream_timeout']))
        for (const [id, result] of last) {
          const line = lines.findLast((each) => each.id === id)
          expect(line, 'each call is in a file').to.not.equal(undefined)
          if (!line!.isTouched) expect(rows.get(id)).to.equal(result)
        }
        expect(lost).to.equal(0)
      }),
      { numRuns: 200 },
    )
  })

  const UNREADABLE: Readonly<Record<string, (path: string) => unknown>> = {
    'a folder': (path) => mkdir(path),
    'a link to itself': (path) => symlink(path, path),
    'a pipe': (path) => execFileSync('mkfifo', [path]),
  }

  for (const [what, make] of Object.entries(UNREADABLE))
    it(`that cannot be opened is named and counted, and costs no other: ${what}`, async () => {
      const id = newRequestId()
      journal.note(call(id), attempt('ok'))
      await end()
      const path = join(folder, '11111111-1111-4111-8111-111111111111-1.jsonl')
      await make(path)
      expect((await replayed()).map((row) => row.id)).to.deep.equal([id])
      expect(unreadable).to.equal(1)
      expect(told.map(({ file }) => file)).to.deep.equal([path])
    })

  it('is named and counted if nobody can find out whether its process runs', async () => {
    const id = newRequestId()
    journal.note(call(id), attempt('ok'))
    await end()
    const other = join(folder, '11111111-1111-4111-8111-111111111111')
    await writeFile(`${other}.lock`, 'this is no lock '.repeat(64))
    await writeFile(`${other}-1.jsonl`, '')
    expect((await replayed()).map((row) => row.id)).to.deep.equal([id])
    expect(unreadable).to.equal(1)
    expect(told.map(({ file }) => file)).to.deep.equal([`${other}-1.jsonl`])
    expect(await readdir(folder)).to.include('11111111-1111-4111-8111-111111111111-1.jsonl')
  })

  itWith('namespaces', 'is not read while its process runs in another container', async () => {
    const files = new URL('../../../core/usage/journal-files.ts', import.meta.url).href
    const script = `
      const { JournalLock, journalPath } = await import('${files}')
      const fs = await import('node:fs')
      const lock = new JournalLock('${folder}')
      fs.writeFileSync(journalPath('${folder}', lock.process, 1), '')
      process.stdout.write('locked')
      // A lock that nothing refers to is collected, and released.
      setInterval(() => lock.process, 1000)`
    const child = spawn('unshare', ['--pid', '--fork', '--kill-child', process.execPath, '--input-type=module', '-e', script])
    await once(child.stdout, 'data')
    expect((await findJournals(folder)).map(({ isEnded }) => isEnded)).to.deep.equal([false])
    child.kill('SIGKILL')
    await once(child, 'close')
    expect((await findJournals(folder)).map(({ isEnded }) => isEnded)).to.deep.equal([true])
  })

  it('has each call again once a full disk has room', async () => {
    mock.timers.enable({ apis: ['setTimeout'] })
    const ids = Array.from({ length: 6 }, () => newRequestId())
    try {
      await onDisk(async (hasRoomFor) => {
        const line = lineOf(call(ids[0]!), attempt('ok')).length + 1
        hasRoomFor(line * 2.5)
        for (const id of ids.slice(0, 4)) journal.note(call(id), attempt('ok'))
        journal.flush()
        expect((await journalText()).match(/req_\w+/g), 'what had room').to.deep.equal(ids.slice(0, 2))
        journal.note(call(ids[4]!), attempt('ok'))
        journal.flush()
        mock.timers.tick(RETRY_MS)
        hasRoomFor(Number.POSITIVE_INFINITY)
        journal.done([{ id: ids[3]! }])
        mock.timers.tick(RETRY_MS)
        journal.note(call(ids[5]!), attempt('ok'))
      })
    } finally {
      mock.timers.reset()
    }
    await end()
    expect((await replayed()).map((row) => row.id)).to.have.members(ids.filter((id) => id !== ids[3]))
    expect([damaged, lost, warnings]).to.deep.equal([0, 0, 1])
  })

  it('counts and names the calls for which a full disk leaves no room in memory', async () => {
    await onDisk(async (hasRoomFor) => {
      hasRoomFor(0)
      for (let count = 0; count < 10_002; count++) journal.note(call(newRequestId()), attempt('ok'))
      journal.flush()
    })
    expect([lost, warnings]).to.deep.equal([2, 2])
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
    const nowhere = new CallJournal({ folder: join(file, 'journal'), log, onLost })
    for (let count = 0; count < 3; count++) nowhere.note(call(newRequestId()), attempt('ok'))
    nowhere.close()
    expect(warnings).to.equal(1)
  })
})
