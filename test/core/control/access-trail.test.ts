import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { mock } from 'node:test'
import { expect } from 'chai'
import { listAudit, viewAudit } from '../../../core/accounts/audit.ts'
import { AccessTrail } from '../../../core/control/access-trail.ts'
import { GatewayError } from '../../../core/errors.ts'
import { createLog } from '../../../core/observe/log.ts'
import { openStore, type Store } from '../../../core/store/database.ts'

const MINUTE = 60_000

describe('a flood of refused attempts', () => {
  let folder: string
  let store: Store
  let trail: AccessTrail

  beforeEach(async () => {
    folder = await mkdtemp(join(tmpdir(), 'umg-test-'))
    store = await openStore(`sqlite:${join(folder, 'gateway.db')}`, { threads: false })
    trail = new AccessTrail({ store, log: createLog({ level: 'fatal' }) })
    mock.timers.enable({ apis: ['setTimeout'] })
  })
  afterEach(async () => {
    mock.timers.reset()
    await store?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  const refuse = (address: string) =>
    trail.refused(new GatewayError('not_signed_in'), undefined, {
      operation: { method: 'GET', path: '/keys' },
      params: {},
      address,
      hasKey: true,
    })

  const lines = async () =>
    (await listAudit(store, { limit: 500 })).data
      .map(viewAudit)
      .map(({ actor, object, ip, changes }) => ({ actor: actor?.name, object: object.name, ip, repeated: changes.repeated?.[1] }))

  /** Lets what a timer began be written: a transaction waits for those before it. */
  async function later(ms: number): Promise<void> {
    mock.timers.tick(ms)
    await store.db.transaction().execute(async () => undefined)
  }

  it('has a line at once, and one with the number of its repetitions a minute later', async () => {
    for (let attempt = 0; attempt < 5; attempt++) await refuse('192.0.2.1')
    const first = { actor: undefined, object: 'GET /keys', ip: '192.0.2.1', repeated: undefined }
    expect(await lines()).to.deep.equal([first])
    await later(MINUTE)
    expect(await lines()).to.deep.equal([{ ...first, repeated: 4 }, first])
    await later(MINUTE)
    expect(await lines()).to.have.length(2)
    await refuse('192.0.2.1')
    expect(await lines()).to.have.length(3)
  })

  it('from a thousand addresses has one line for all further ones', async () => {
    for (let address = 0; address < 1005; address++) await refuse(`2001:db8::${address.toString(16)}`)
    const { count } = await store.db
      .selectFrom('audit')
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    expect(count).to.equal(1000)
    await later(MINUTE)
    expect((await lines())[0]).to.deep.equal({ actor: 'gateway', object: 'further sources', ip: null, repeated: 5 })
  })
})
