import { chmod, mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { expect } from 'chai'
import { Home } from '../lifecycle/umg.ts'
import { contentsOf } from './contents.ts'
import { Load } from './load.ts'

const ROUTES = 'version: 1\nchain: [{ plugin: auth }]\nnamespaces: { box: { provider: sandbox } }\n'

/** The columns of a key that change with its use. */
const withoutUse = ({ last_used_at: _, ...key }: Readonly<Record<string, unknown>>) => key

describe('umg backup and umg restore', () => {
  let home: Home

  beforeEach(async () => {
    home = await Home.create({ 'routes.yaml': ROUTES })
  })

  afterEach(() => home?.remove())

  /** Runs a command that must succeed. Resolves to its output. */
  async function umg(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await home.run(args).ended
    expect(code, stderr).to.equal(0)
    return stdout
  }

  /** Runs a command that must fail. Resolves to its message. */
  async function refused(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await home.run(args).ended
    expect([code, stdout], stderr).to.deep.equal([1, ''])
    return stderr
  }

  const path = (name: string): string => join(home.path, name)
  const contents = (folder: string) => contentsOf(path(`${folder}/gateway.db`))
  const idsIn = (folder: string): unknown[] => contents(folder).calls!.map(({ id }) => id)
  const modeOf = async (name: string): Promise<number> => (await stat(path(name))).mode & 0o777

  async function startLoad() {
    const gateway = await home.start()
    const [key] = await gateway.umg.prints(/sk-test-\w+/)
    const load = new Load(gateway.url, key)
    await load.answers(100)
    return { gateway: gateway.umg, load }
  }

  /** A database with an account, and no gateway. */
  const createDatabase = (): Promise<string> => umg('accounts', 'create', '--name', 'Acme')

  it('under load: the backup has every call that was answered before it, and is the same as the gateway at one moment', async () => {
    await createDatabase()
    const { gateway, load } = await startLoad()
    const before = [...load.answered]
    await umg('backup', 'backup.db')
    const created = await umg('accounts', 'create', '--name', 'after the backup')
    await load.answers(10)
    await load.stop()
    gateway.signal('SIGINT')
    expect((await gateway.ended).code).to.equal(0)
    await umg('restore', 'backup.db', '--data', 'restored')

    const [source, restored] = [contents('data'), contents('restored')]
    expect(restored.schema).to.deep.equal(source.schema)
    expect(restored.keys!.map(withoutUse)).to.deep.equal(source.keys!.map(withoutUse))
    expect(restored.accounts).to.deep.equal(source.accounts!.filter(({ id }) => id !== created.trim()))
    expect(restored.audit).to.deep.equal(source.audit!.filter(({ object_id }) => object_id !== created.trim()))
    // Rows and their totals are written in one transaction.
    const hours = restored.usage!.filter(({ span, dimension, scope }) => span === 'hour' && dimension === 'all' && scope === '')
    expect(hours.reduce((sum, { requests }) => sum + Number(requests), 0)).to.equal(restored.calls!.length)
    expect(source.calls).to.deep.include.members([...restored.calls!])

    // The restored gateway writes the rows of calls that only the journal has had.
    const second = await home.start('--data', 'restored')
    second.umg.signal('SIGINT')
    expect((await second.umg.ended).code).to.equal(0)
    expect(idsIn('restored')).to.include.members(before)
    expect(idsIn('data')).to.include.members(idsIn('restored'))
  })

  it('without a gateway: the restored database is equal in every row', async () => {
    const { gateway, load } = await startLoad()
    await load.stop()
    gateway.signal('SIGINT')
    await gateway.ended
    expect(await umg('backup', 'backup.db')).to.include(path('backup.db'))
    expect(await umg('restore', 'backup.db', '--data', 'restored')).to.match(/restored from .* as it was at \d{4}-/)
    expect(contents('restored')).to.deep.equal(contents('data'))
    expect(contents('restored').calls).to.have.length(load.answered.length)
  })

  it('the calls of a gateway that was killed are in its backup, though they have no rows yet', async () => {
    const { gateway, load } = await startLoad()
    await load.stop()
    gateway.signal('SIGKILL')
    await gateway.ended
    await umg('backup', 'backup.db')
    await umg('restore', 'backup.db', '--data', 'restored')
    const restored = await home.start('--data', 'restored')
    restored.umg.signal('SIGINT')
    await restored.umg.ended
    expect(idsIn('restored')).to.have.members(load.answered)
    expect(await readdir(path('restored/journal'))).to.deep.equal([])
  })

  it('only their owner can read the backup and what is restored', async () => {
    const { gateway, load } = await startLoad()
    await load.stop()
    gateway.signal('SIGKILL')
    await gateway.ended
    await umg('backup', 'backup.db')
    await chmod(path('backup.db'), 0o644)
    await umg('restore', 'backup.db', '--data', 'restored')
    await umg('backup', 'backup.db', '--overwrite')
    const [journal] = await readdir(path('restored/journal'))
    const names = ['backup.db', 'restored', 'restored/gateway.db', 'restored/journal', `restored/journal/${journal}`]
    expect(await Promise.all(names.map(modeOf))).to.deep.equal([0o600, 0o700, 0o600, 0o700, 0o600])
    expect(await readdir(home.path)).to.have.members(['routes.yaml', 'data', 'restored', 'backup.db'])
  })

  it('a folder that a gateway uses is not restored, and serves on', async () => {
    await createDatabase()
    await umg('backup', 'backup.db')
    const { umg: gateway, url } = await home.start()
    expect(await refused('restore', 'backup.db', '--overwrite')).to.include('A gateway, or another program, uses the database')
    expect((await fetch(`${url}/readyz`)).status).to.equal(200)
    gateway.signal('SIGINT')
    await gateway.ended
    expect(contents('data').keys).to.have.length(1)
    await umg('restore', 'backup.db', '--overwrite')
    expect(contents('data').keys).to.have.length(0)
  })

  it('a backup and a database are replaced only if that is asked for', async () => {
    await createDatabase()
    await umg('backup', 'backup.db')
    await umg('accounts', 'create', '--name', 'later')
    for (const command of ['backup', 'restore']) expect(await refused(command, 'backup.db')).to.include('--overwrite')
    expect(contents('data').accounts).to.have.length(3)
    await umg('restore', 'backup.db', '--overwrite')
    expect(contents('data').accounts).to.have.length(2)
  })

  it('a write-ahead log without its database is not mixed with a restored one', async () => {
    await createDatabase()
    await umg('backup', 'backup.db')
    await mkdir(path('moved'))
    await writeFile(path('moved/gateway.db-wal'), 'of another database')
    expect(await refused('restore', 'backup.db', '--data', 'moved')).to.include('gateway.db-wal exists')
    await umg('restore', 'backup.db', '--data', 'moved', '--overwrite')
    expect(contents('moved')).to.deep.equal(contents('data'))
  })

  for (const [what, damage] of [
    ['is no database', (file: string) => writeFile(file, 'hello')],
    ['is not of a gateway', async (file: string) => change(file, 'create table notes (text)')],
    ['has lost a part', async (file: string) => writeFile(file, await firstHalfOf(file))],
    ['is of a newer version that this one cannot follow', async (file: string) => change(file, NEWER)],
  ] as const)
    it(`a backup that ${what} is not restored, and the database stays`, async () => {
      await createDatabase()
      if (what.includes('version') || what.includes('part')) await umg('backup', 'backup.db')
      await damage(path('backup.db'))
      const before = contents('data')
      expect(await refused('restore', 'backup.db', '--overwrite')).to.match(/backup|newer version/)
      expect(contents('data')).to.deep.equal(before)
      expect((await readdir(path('data'))).filter((name) => name.includes('unfinished'))).to.deep.equal([])
    })

  it('what is missing is named', async () => {
    expect(await refused('backup', 'backup.db')).to.include(`There is no database ${path('data/gateway.db')}`)
    await createDatabase()
    expect(await refused('restore', 'backup.db', '--data', 'restored')).to.include(`There is no file ${path('backup.db')}`)
    expect(await refused('backup', 'nowhere/backup.db')).to.include('ENOENT')
  })

  it('PostgreSQL has its own tools, which the commands name', async () => {
    const at = ['--database', 'postgres://umg:hunter2@db.internal/umg']
    expect(await refused('backup', 'backup.db', ...at))
      .to.include('pg_dump')
      .and.not.include('hunter2')
    expect(await refused('restore', 'backup.db', ...at)).to.include('pg_restore')
  })
})

const NEWER = "insert into kysely_migration values ('9999-later-breaking', '2999-01-01T00:00:00.000Z')"

function change(file: string, statement: string): void {
  const database = new DatabaseSync(file)
  database.exec(statement)
  database.close()
}

async function firstHalfOf(file: string): Promise<Buffer> {
  const whole = await readFile(file)
  return whole.subarray(0, whole.length / 2)
}
