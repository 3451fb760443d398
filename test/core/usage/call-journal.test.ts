import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import type { AttemptRecord, Usage } from '../../../core/sdk/api.ts'
import type { CallsTable } from '../../../core/store/schema.ts'
import { newRequestId } from '../../../core/text/ids.ts'
import { CallJournal } from '../../../core/usage/call-journal.ts'
import { JournalReplay } from '../../../core/usage/journal-replay.ts'
import type { ServedCall } from '../../../core/usage/served-call.ts'

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
})

/** A process that had the id of this one, and has ended. */
const ENDED = `${process.pid}-1`

describe('the journal of calls', () => {
  let folder: string
  let journal: CallJournal
  let warnings: number

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-journal-'))
    warnings = 0
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

  /** The rows that are written when this process, or an earlier one with its id, has ended. */
  async function replayed(): Promise<readonly CallsTable[]> {
    const rows: CallsTable[] = []
    const writer = { write: async (some: readonly CallsTable[]) => void rows.push(...some) }
    const log = { info: () => undefined, warn: () => undefined }
    const replay = new JournalReplay({ folder, writer, written: async () => undefined, log })
    await replay.close()
    return rows
  }

  /** Makes the files those of a process that has ended. */
  async function end(): Promise<void> {
    for (const name of await readdir(folder)) {
      const text = await readFile(join(folder, name), 'utf8')
      await writeFile(join(folder, name.replace(/^\d+-\d+/, ENDED)), text)
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
    })
    expect(JSON.parse(row!.tags)).to.deep.equal({ team: 'search', tier: 'gold' })
    expect(await replayed()).to.deep.equal([])
  })

  it('is not read while its process runs', async () => {
    journal.note(call(newRequestId()), attempt('ok'))
    journal.flush()
    expect(await replayed()).to.deep.equal([])
    expect(await readdir(folder)).to.have.length(1)
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
    journal.flush()
    await end()
    const path = join(folder, `${ENDED}-1.jsonl`)
    await writeFile(path, `${await readFile(path, 'utf8')}["req_cut","acc`)
    expect((await replayed()).map((row) => row.id)).to.deep.equal([id])
  })

  it('needs no file for calls that have rows', async () => {
    const ids = Array.from({ length: 8000 }, () => newRequestId())
    for (const id of ids) {
      journal.note(call(id), attempt('ok'))
      journal.flush()
    }
    expect((await readdir(folder)).length).to.be.greaterThan(1)
    journal.done(ids.map((id) => ({ id })))
    expect(await readdir(folder)).to.have.length(1)
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
