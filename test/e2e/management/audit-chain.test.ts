import { hash } from 'node:crypto'
import { expect } from 'chai'
import { type Kysely, sql } from 'kysely'
import { createAccount } from '../../../core/accounts/accounts.ts'
import { COMMAND_LINE } from '../../../core/accounts/audit.ts'
import { GatewayError } from '../../../core/errors.ts'
import { createKey, editKey, revokeKey, rotateKey } from '../../../core/keys/keys.ts'
import type { Store } from '../../../core/store/database.ts'
import { MIGRATIONS } from '../../../core/store/migrate.ts'
import { hashOfEntry } from '../../../core/store/migrations/audit-trail.ts'
import { makeOldDatabase } from '../../core/store/old-database.ts'
import { storesIn } from '../../core/store/stores.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { Home } from '../lifecycle/umg.ts'

/** What keeps everyone, but not the owner of the database, from changing entries. */
const UNLOCK: Readonly<Record<string, readonly string[]>> = {
  SQLite: ['update', 'delete', 'replace'].map((change) => `drop trigger audit_refuses_${change}`),
  PostgreSQL: ['alter table audit disable trigger audit_is_append_only'],
}

const accountOf = (name: string) => ({ name, models: ['*'], rateClass: null, budgets: [] })

onEachDatabase('the chain of the audit trail', (database, kind) => {
  /** `open`: another gateway's connections. */
  const { url, open } = storesIn(database)
  let home: Home

  beforeEach(async () => {
    home = await Home.create({})
  })

  afterEach(() => home?.remove())

  const umg = (...args: string[]) => home.run(['audit', ...args, '--database', url()]).ended

  async function verify(...args: string[]) {
    const { code, stdout, stderr } = await umg('verify', '--json', ...args)
    const verdict = JSON.parse(stdout || stderr)
    expect(code).to.equal(verdict.intact ? 0 : 1)
    return verdict
  }

  /** A trail with five entries. */
  async function trail(): Promise<Store> {
    const store = await open()
    for (const name of ['a', 'b', 'c', 'd', 'e']) await createAccount(store, accountOf(name), COMMAND_LINE)
    return store
  }

  const run = (store: Store, statement: string) => sql.raw(statement).execute(store.db)

  /** As the owner of the database. */
  async function tamper(...statements: string[]): Promise<Store> {
    const store = await trail()
    for (const statement of [...UNLOCK[kind]!, ...statements]) await run(store, statement)
    return store
  }

  it('is intact, and its end is told, to be kept elsewhere', async () => {
    const store = await trail()
    const { code, stdout } = await umg('verify')
    const [, known] = /^The audit trail is intact: 5 entries\. Hash of the last one: ([0-9a-f]{64})\n$/.exec(stdout)!
    expect(code).to.equal(0)
    await createAccount(store, accountOf('f'), COMMAND_LINE)
    expect(await verify('--known', known!)).to.deep.include({ intact: true, entries: 6 })
  })

  it('stays one when several gateways write at the same time, and none of them waits for ever', async () => {
    const gateways = [await open(), await open(), await open()]
    const rounds = gateways.flatMap((store, gateway) =>
      Array.from({ length: 8 }, (_, count) => createAccount(store, accountOf(`${gateway} ${count}`), COMMAND_LINE)),
    )
    await Promise.all(rounds)
    for (let count = 0; count < 5; count++) {
      const { key } = await createKey(gateways[0]!, { name: 'shared', kind: 'live' })
      const changes = await Promise.allSettled([
        rotateKey(gateways[0]!, { id: key.id, overlap: 1000 }, COMMAND_LINE),
        editKey(gateways[1]!, { id: key.id, name: 'renamed' }, COMMAND_LINE),
        revokeKey(gateways[2]!, key.id, COMMAND_LINE),
      ])
      for (const change of changes) if (change.status === 'rejected') expect(change.reason).to.be.instanceOf(GatewayError)
    }
    const { findings, entries } = await verify()
    expect(findings).to.deep.equal([])
    expect(entries).to.be.at.least(24 + 5)
  })

  for (const [what, statements, finding] of [
    ['changed', ["update audit set object_name = 'x' where position = 3"], [3, 'was changed']],
    ['removed', ['delete from audit where position = 3'], [3, 'was removed']],
    ['removed, with those after it,', ['delete from audit where position > 3'], [4, 'was removed, and all up to entry 5']],
    [
      'inserted',
      [
        `insert into audit (id, at, action, object_type, object_name, changes) values ('aud_x', 1, 'key.create', 'key', 'x', '{}')`,
      ],
      [null, 'is in no chain: an older version of the gateway, or another program, wrote it'],
    ],
    [
      'inserted at the end',
      [
        `insert into audit (id, at, action, object_type, object_name, changes, position, previous, hash)
         select 'aud_x', at, action, object_type, object_name, changes, 6, hash, hash from audit where position = 5`,
      ],
      [6, 'was changed'],
    ],
  ] as const)
    it(`shows that an entry was ${what}`, async () => {
      await tamper(...statements)
      const { findings } = await verify()
      expect(findings.map(({ position, problem }: Record<string, unknown>) => [position, problem])).to.deep.include(finding)
      const { code, stdout, stderr } = await umg('verify')
      expect([code, stderr]).to.deep.equal([1, `The audit trail is not as it was written: ${findings.length} findings.\n`])
      expect(stdout).to.include(finding[1])
    })

  it('shows that an entry was replaced by one with a hash of its own', async () => {
    const store = await tamper()
    await store.db.updateTable('audit').set({ object_name: 'x' }).where('position', '=', 3).execute()
    const entry = await store.db.selectFrom('audit').selectAll().where('position', '=', 3).executeTakeFirstOrThrow()
    const own = hashOfEntry(entry, { position: 3, previous: entry.previous! })
    await store.db.updateTable('audit').set({ hash: own }).where('position', '=', 3).execute()
    const { findings } = await verify()
    expect(findings.map(({ position }: { position: number }) => position)).to.deep.equal([4])
  })

  it('shows that the whole of it was replaced, by a hash that was kept elsewhere', async () => {
    const store = await tamper()
    const { head } = await verify()
    await run(store, 'delete from audit')
    await store.db
      .updateTable('audit_head')
      .set({ position: 0, hash: '0'.repeat(64) })
      .execute()
    await createAccount(store, accountOf('x'), COMMAND_LINE)
    expect((await verify()).intact).to.equal(true)
    const { intact, findings } = await verify('--known', head.hash)
    expect(intact).to.equal(false)
    expect(findings[0].problem).to.include(head.hash)
  })

  it('has the entries from before it', async () => {
    const migrations = Object.fromEntries(Object.entries(MIGRATIONS).filter(([name]) => name < '0013'))
    const insert = (db: Kysely<never>, id: string, at: number) =>
      sql`insert into audit (id, at, actor_name, action, object_type, object_name, changes)
        values (${id}, ${at}, 'Zoë ✓', 'key.create', 'key', 'k', '{}')`.execute(db)
    await makeOldDatabase(url(), {
      migrations,
      fill: async (db: Kysely<never>) => {
        for (const [id, at] of [
          ['aud_2', 2],
          ['aud_1', 1],
        ] as const)
          await insert(db, id, at)
      },
    })
    expect(await verify()).to.deep.include({ intact: true, entries: 2 })
    const { stdout } = await umg('export')
    expect(
      stdout
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line).id),
    ).to.deep.equal(['aud_1', 'aud_2'])
    const change = await run(await open(), "update audit set action = 'x'").catch((error: Error) => error.message)
    expect(change).to.include('append-only')
  })

  it('is exported as JSON Lines, from which anyone can compute the hashes', async () => {
    await trail()
    const { stdout } = await umg('export', '--after', '2')
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(entries.map(({ position }) => position)).to.deep.equal([3, 4, 5])
    for (const { previous, position, id, at, action, changes, hash: stored, ...entry } of entries) {
      const { actor_id, actor_name, object_type, object_id, object_name, address } = entry
      const said = [
        previous,
        position,
        id,
        at,
        actor_id,
        actor_name,
        action,
        object_type,
        object_id,
        object_name,
        address,
        changes,
      ]
      expect(stored).to.equal(hash('sha256', JSON.stringify(said)))
    }
  })

  it('is exported as messages of RFC 5424', async () => {
    const store = await open()
    await createAccount(store, accountOf('quote " and ] é'), COMMAND_LINE)
    const { stdout } = await umg('export', '--format', 'syslog')
    const pattern = /^<109>1 (\S+Z) (\S+) umg - account\.create \[audit@32473((?: \w+="(?:[^"\\\]]|\\["\\\]])*")+)\] (\{.*\})\n$/
    const [, time, , data, message] = pattern.exec(stdout)!
    const entry = JSON.parse(message!)
    expect(entry).to.include({ time, position: 1, object_name: 'quote " and ] é' })
    expect(data).to.include(`id="${entry.id}"`).and.include('position="1"').and.include('actor="command-line"')
  })
})
