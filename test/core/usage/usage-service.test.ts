import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect } from 'chai'
import { createLog } from '../../../core/observe/log.ts'
import { Metrics } from '../../../core/observe/metrics.ts'
import { openStore } from '../../../core/store/database.ts'
import { newRequestId } from '../../../core/text/ids.ts'
import { callRecord } from '../../../core/usage/call-record.ts'
import { pathOfEnded } from '../../../core/usage/journal-files.ts'
import { openUsage } from '../../../core/usage/recorder.ts'
import { DEFAULT_RETENTION } from '../../../core/usage/retention.ts'
import { outcomeOf } from './outcome.ts'

describe('the records of calls', () => {
  let folder: string

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-usage-'))
  })

  afterEach(() => rm(folder, { recursive: true }))

  it('let a gateway end whose database is away, although an ended process has left its journal', async () => {
    const store = await openStore(`sqlite:${join(folder, 'gateway.db')}`)
    await store.close()
    await writeFile(pathOfEnded(folder), '')
    const metrics = new Metrics()
    const log = createLog({ level: 'silent' })
    const usage = openUsage({ store, log, metrics, retention: DEFAULT_RETENTION, journals: folder })
    usage.recorder.record(callRecord(outcomeOf(), { id: newRequestId(), principal: undefined, tags: {}, headers: {} }))
    const written = usage.recorder.written()
    await usage.close()
    await written
    expect((await metrics.render()).text).to.match(/^umg_usage_rows_dropped_total 1$/m)
  })
})
