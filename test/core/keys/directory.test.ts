import { once } from 'node:events'
import { mock } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import { type KyselyPlugin, sql } from 'kysely'
import { createAccount, editAccount } from '../../../core/accounts/accounts.ts'
import { GATEWAY } from '../../../core/accounts/audit.ts'
import type { DeclaredAccount, DeclaredKey } from '../../../core/config/config.ts'
import { GatewayError } from '../../../core/errors.ts'
import type { ApiKey } from '../../../core/keys/api-key.ts'
import { createSecret } from '../../../core/keys/format.ts'
import { createKey, editKey, findKey, revokeKey, rotateKey } from '../../../core/keys/keys.ts'
import { StoredKeys } from '../../../core/keys/source.ts'
import type { Store } from '../../../core/store/database.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { until } from '../../support/poll.ts'
import { child } from '../store/child.ts'
import { storesIn } from '../store/stores.ts'
import { gated } from './gate.ts'
import { openDirectory, type StoredDirectory } from './stored-directory.ts'

const LIVE = { name: 'ci', kind: 'live' } as const
const ADA = { id: 'usr_ada', name: 'Ada' }

async function unavailable(verifying: Promise<unknown>): Promise<void> {
  const outcome = await verifying.catch((error: unknown) => error)
  expect(outcome).to.be.instanceOf(GatewayError)
  expect(outcome).to.include({ row: 'storage_unavailable', status: 503 })
  expect((outcome as GatewayError).headers).to.include({ 'retry-after': '1' })
}

onEachDatabase('the key directory', (database, kind) => {
  const { url, open } = storesIn(database)
  let store: Store
  let directories: StoredDirectory[] = []
  const directoryOf = (of: Store) => {
    const directory = openDirectory(of)
    directories.push(directory)
    return directory
  }

  beforeEach(async () => {
    store = await open()
  })
  afterEach(async () => {
    mock.timers.reset()
    await Promise.all(directories.map((directory) => directory.close()))
    directories = []
  })

  /** A key whose creation the store has told of: no poll finds it later. */
  async function createQuietly(): Promise<{ readonly key: ApiKey; readonly secret: string }> {
    const made = await createKey(store, LIVE)
    // SQLite tells of it at once, PostgreSQL soon.
    const told = await store.changed()
    if (kind === 'PostgreSQL') await until(() => told || store.changed())
    return made
  }

  const untilRefused = (directory: StoredDirectory, secret: string) =>
    until(async () => (await directory.verify(secret)) === undefined)

  it('finds the account of a new key', async () => {
    const { key, secret } = await createKey(store, { ...LIVE, models: ['openai/*', 'acme/smart'], rateClass: 'batch' })
    const principal = await directoryOf(store).verify(secret)
    expect(principal).to.deep.equal({
      keyId: key.id,
      name: 'ci',
      kind: 'live',
      account: 'default',
      models: [['*'], ['openai/*', 'acme/smart']],
      rateClass: 'batch',
    })
  })

  it("gives a key without a rate class its account's", async () => {
    await store.db.updateTable('accounts').set({ rate_class: 'standard', models: '["acme/*"]' }).execute()
    const { secret } = await createKey(store, { ...LIVE })
    expect(await directoryOf(store).verify(secret)).to.deep.include({ rateClass: 'standard', models: [['acme/*'], ['*']] })
  })

  it('gives all calls of a key the same frozen principal', async () => {
    const { secret } = await createQuietly()
    const directory = directoryOf(store)
    const first = await directory.verify(secret)
    expect(await directory.verify(secret)).to.equal(first)
    expect(first).to.satisfy(Object.isFrozen)
  })

  it('finds the labels of a key', async () => {
    const { secret } = await createKey(store, { ...LIVE, tags: { team: 'research' } })
    expect(await directoryOf(store).verify(secret)).to.deep.include({ tags: { team: 'research' } })
  })

  it('does not accept an admin key', async () => {
    const { secret } = await createKey(store, { name: 'terraform', kind: 'admin' })
    expect(await directoryOf(store).verify(secret)).to.equal(undefined)
  })

  it('records the last use of keys when it is closed', async () => {
    const { key, secret } = await createKey(store, LIVE)
    const { key: idle } = await createKey(store, LIVE)
    const directory = directoryOf(store)
    await directory.verify(secret)
    expect((await findKey(store.db, key.id)).lastUsedAt).to.equal(undefined)
    await directory.close()
    expect((await findKey(store.db, key.id)).lastUsedAt).to.be.within(key.createdAt, Date.now())
    expect((await findKey(store.db, idle.id)).lastUsedAt).to.equal(undefined)
  })

  it('records the last use of keys once a minute, and repeats a failed write', async () => {
    mock.timers.enable({ apis: ['setInterval'] })
    let fail = false
    const plugin: KyselyPlugin = {
      transformQuery({ node }) {
        if (fail) throw new Error('disk I/O error')
        return node
      },
      transformResult: async ({ result }) => result,
    }
    const { key, secret } = await createKey(store, LIVE)
    const directory = directoryOf({ ...store, db: store.db.withPlugin(plugin) })
    await directory.verify(secret)
    fail = true
    mock.timers.tick(60_000)
    await setImmediate()
    fail = false
    mock.timers.tick(60_000)
    await until(async () => (await findKey(store.db, key.id)).lastUsedAt !== undefined)
  })

  it('does not accept a key that was never created', async () => {
    expect(await directoryOf(store).verify(createSecret('live'))).to.equal(undefined)
  })

  it('distinguishes keys with the same beginning', async () => {
    const alike = 'sk-live-00000000000000000000000000000'
    // The checksums are those of the bodies that end in 0 and in 1.
    const [one = '', other = ''] = [`${alike}037Beaw`, `${alike}1434yxI`]
    const directory = directoryOf(store)
    const { key } = await createKey(store, LIVE)
    await store.db
      .updateTable('keys')
      .set({ digest: digestOf(one) })
      .execute()
    expect(await directory.verify(one)).to.include({ keyId: key.id })
    expect(await directory.verify(other)).to.equal(undefined)
  })

  it('refuses a malformed key without a query', async () => {
    const directory = directoryOf(store)
    await store.close()
    for (const text of ['', 'sk-live-', 'hunter2', "' OR 1=1 --", createSecret('live').slice(1), 'x'.repeat(10_240)]) {
      expect(await directory.verify(text)).to.equal(undefined)
    }
  })

  it('makes one query for concurrent calls', async () => {
    const { secret } = await createQuietly()
    const gate = gated(store)
    const directory = directoryOf(gate.store)
    const calls = Array.from({ length: 50 }, () => directory.verify(secret))
    gate.open()
    expect(new Set(await Promise.all(calls))).to.have.property('size', 1)
    await directory.verify(secret)
    expect(gate.asked()).to.equal(1)
  })

  it('makes one query for a wrong key that is used repeatedly', async () => {
    const gate = gated(store)
    gate.open()
    const directory = directoryOf(gate.store)
    const wrong = createSecret('live')
    for (let i = 0; i < 5; i++) await directory.verify(wrong)
    expect(gate.asked()).to.equal(1)
  })

  it('refuses a key from the moment it expires, in use or not', async () => {
    const expires = Date.parse('2027-01-31')
    mock.timers.enable({ apis: ['Date'], now: expires - 60_000 })
    const { key, secret } = await createKey(store, { ...LIVE, expires })
    const [inUse, idle] = [directoryOf(store), directoryOf(store)]
    mock.timers.setTime(expires - 1)
    expect(await inUse.verify(secret)).to.include({ keyId: key.id })
    mock.timers.setTime(expires)
    expect(await inUse.verify(secret)).to.equal(undefined)
    expect(await idle.verify(secret)).to.equal(undefined)
  })

  describe('revocation', () => {
    it('in this process takes effect with the next call', async () => {
      const { key, secret } = await createKey(store, LIVE)
      const directory = directoryOf(store)
      expect(await directory.verify(secret)).to.include({ keyId: key.id })
      await revokeKey(store, key.id)
      expect(await directory.verify(secret)).to.equal(undefined)
    })

    it('by the command line takes effect in a running gateway', async () => {
      const { key, secret } = await createKey(store, LIVE)
      const { secret: bystander } = await createKey(store, LIVE)
      const directory = directoryOf(store)
      expect(await directory.verify(secret)).to.include({ keyId: key.id })
      const other = child(new URL('revoke-key.ts', import.meta.url), url(), key.id)
      expect(await once(other, 'exit')).to.deep.equal([0, null])
      await untilRefused(directory, secret)
      expect(await directory.verify(bystander)).to.include({ name: 'ci' })
    })

    it('by another gateway takes effect within a second', async () => {
      const { key, secret } = await createKey(store, LIVE)
      const directory = directoryOf(store)
      await directory.verify(secret)
      await revokeKey(await open(), key.id)
      await untilRefused(directory, secret)
    })

    it('by another gateway is told to all that watch the keys of a process', async () => {
      const { key } = await createQuietly()
      const source = new StoredKeys(store)
      const told = Array.from({ length: 2 }, () => Promise.withResolvers<void>())
      const stops = told.map(({ resolve }) => source.watch({ changed: () => resolve(), lost: () => undefined }))
      await revokeKey(await open(), key.id)
      await Promise.all(told.map(({ promise }) => promise))
      for (const stop of stops) stop()
      await source.close()
    })

    it('by a direct change of the database takes effect, also of models and accounts', async () => {
      const { secret } = await createKey(store, LIVE)
      const directory = directoryOf(store)
      await directory.verify(secret)
      await (await open()).db.updateTable('accounts').set({ models: '["acme/*"]' }).execute()
      await until(async () => (await directory.verify(secret))?.models[0]?.[0] === 'acme/*')
    })

    it('without a notification takes effect after ten seconds', async () => {
      const { key, secret } = await createQuietly()
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const directory = directoryOf(store)
      expect(await directory.verify(secret)).to.include({ keyId: key.id })
      await silently(() => store.db.updateTable('keys').set({ revoked_at: 1 }).execute())
      mock.timers.tick(9_999)
      expect(await directory.verify(secret)).to.include({ keyId: key.id })
      mock.timers.tick(1)
      expect(await directory.verify(secret)).to.include({ keyId: key.id })
      await untilRefused(directory, secret)
    })

    it('needs no further look-ups while every change is seen, but for one in ten minutes', async () => {
      const { secret } = await createQuietly()
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const gate = gated(store)
      gate.open()
      let polls = 0
      const changed = async () => {
        polls += 1
        return false
      }
      const directory = directoryOf({ ...gate.store, changed, seenUntil: () => Number.POSITIVE_INFINITY })
      const principal = await directory.verify(secret)
      await until(() => polls === 2)
      for (let i = 0; i < 9; i++) {
        mock.timers.tick(60_000)
        expect(await directory.verify(secret)).to.equal(principal)
      }
      expect(gate.asked()).to.equal(1)
      mock.timers.tick(60_000)
      await directory.verify(secret)
      await until(() => gate.asked() === 2)
    })

    it('can be undone: an unknown key is looked up again after ten seconds', async () => {
      const { secret } = await createQuietly()
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const directory = directoryOf(store)
      await silently(() => store.db.updateTable('keys').set({ revoked_at: 1 }).execute())
      expect(await directory.verify(secret)).to.equal(undefined)
      await silently(() => store.db.updateTable('keys').set({ revoked_at: null }).execute())
      expect(await directory.verify(secret)).to.equal(undefined)
      mock.timers.tick(10_000)
      expect(await directory.verify(secret)).to.include({ name: 'ci' })
    })

    /** A change that the store tells nobody of. */
    async function silently(change: () => Promise<unknown>): Promise<void> {
      const mute =
        kind === 'PostgreSQL'
          ? sql`alter table keys disable trigger keys_tell_gateways`
          : sql`drop trigger if exists keys_changed`
      await mute.execute(store.db)
      await change()
    }

    it('is not undone by a look-up that began before it', async () => {
      const { key, secret } = await createKey(store, LIVE)
      const gate = gated(store)
      const directory = directoryOf(gate.store)
      const early = directory.verify(secret)
      while (gate.asked() === 0) await setImmediate()
      await revokeKey(store, key.id)
      const late = directory.verify(secret)
      gate.open()
      expect(await early).to.equal(undefined)
      expect(await late).to.equal(undefined)
      expect(await directory.verify(secret)).to.equal(undefined)
    })

    it('is not watched after the directory is closed', async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const { key } = await createQuietly()
      const directory = directoryOf(store)
      await directory.close()
      await revokeKey(await open(), key.id)
      mock.timers.tick(1000)
      await until(() => store.changed())
      expect(store.events.listenerCount('keys')).to.equal(0)
    })
  })

  describe('while the database fails', () => {
    it('accepts keys in use, and throws storage_unavailable for others', async () => {
      const { secret } = await createQuietly()
      const { secret: idle } = await createQuietly()
      const directory = directoryOf(store)
      const principal = await directory.verify(secret)
      await store.close()
      expect(await directory.verify(secret)).to.equal(principal)
      await unavailable(directory.verify(idle))
      await unavailable(directory.verify(createSecret('live')))
    })

    it('accepts keys in use that are due for another look-up', async () => {
      mock.timers.enable({ apis: ['Date'], now: Date.now() })
      const { secret } = await createQuietly()
      const directory = directoryOf(store)
      const principal = await directory.verify(secret)
      await store.close()
      for (let i = 0; i < 3; i++) {
        mock.timers.tick(60_000)
        expect(await directory.verify(secret)).to.equal(principal)
        await setImmediate()
      }
    })

    it('accepts keys in use after a change by another process', async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const { secret } = await createQuietly()
      const directory = directoryOf({ ...store, changed: async () => true })
      const principal = await directory.verify(secret)
      mock.timers.tick(250)
      mock.timers.tick(250)
      await setImmediate()
      await store.close()
      for (let i = 0; i < 3; i++) expect(await directory.verify(secret)).to.equal(principal)
      mock.timers.tick(250)
      await setImmediate()
      expect(await directory.verify(secret)).to.equal(principal)
    })

    it('accepts a key whose first look-up ended after a change by another process', async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const { secret } = await createQuietly()
      const gate = gated(store)
      let changed = false
      const directory = directoryOf({ ...gate.store, changed: async () => changed })
      const verifying = directory.verify(secret)
      await until(() => gate.asked() === 1)
      changed = true
      mock.timers.tick(250)
      await setImmediate()
      gate.open()
      const principal = await verifying
      changed = false
      await store.close()
      expect(await directory.verify(secret)).to.equal(principal)
    })

    it('accepts keys in use after this process changed others', async () => {
      const { secret } = await createQuietly()
      const { key: other } = await createQuietly()
      const directory = directoryOf(store)
      const principal = await directory.verify(secret)
      await revokeKey(store, other.id)
      await createAccount(store, { name: 'Research', models: ['*'], rateClass: null }, ADA)
      await createQuietly()
      await store.close()
      for (let i = 0; i < 3; i++) expect(await directory.verify(secret)).to.equal(principal)
    })

    const CHANGES: Readonly<Record<string, (key: ApiKey) => Promise<unknown>>> = {
      'revoked it': ({ id }) => revokeKey(store, id),
      'edited it': ({ id }) => editKey(store, { id, models: ['acme/*'] }, ADA),
      'rotated it': ({ id }) => rotateKey(store, { id, overlap: 0 }, ADA),
      'edited its account': () => editAccount(store, { id: 'default', models: ['acme/*'] }, ADA),
    }
    for (const [what, change] of Object.entries(CHANGES)) {
      it(`does not accept a key after this process ${what}`, async () => {
        const { key, secret } = await createQuietly()
        const directory = directoryOf(store)
        await directory.verify(secret)
        await change(key)
        await createQuietly()
        await store.close()
        await unavailable(directory.verify(secret))
      })
    }

    it('waits a second at most for a database that does not answer, and a tenth of it for a key in use', async () => {
      // First, so that the pool of connections creates and clears its timers by the same clock.
      mock.timers.enable({ apis: ['setTimeout'] })
      store = await open()
      const { secret } = await createQuietly()
      const { key: other, secret: idle } = await createQuietly()
      let frozen = 0
      let isFrozen = false
      const plugin: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        transformResult({ result }) {
          if (!isFrozen) return Promise.resolve(result)
          frozen += 1
          return new Promise(() => undefined)
        },
      }
      const directory = directoryOf({ ...store, changed: async () => false, db: store.db.withPlugin(plugin) })
      const principal = await directory.verify(secret)
      await revokeKey(store, other.id)
      isFrozen = true
      const inUse = directory.verify(secret)
      const unseen = unavailable(directory.verify(idle))
      await until(() => frozen === 2)
      mock.timers.tick(100)
      expect(await inUse).to.equal(principal)
      expect(await directory.verify(secret)).to.equal(principal)
      mock.timers.tick(900)
      await unseen
    })

    it('refuses a key in use that was revoked elsewhere, as soon as a slow database has said so', async () => {
      mock.timers.enable({ apis: ['setTimeout'] })
      store = await open()
      const { key, secret } = await createQuietly()
      const { key: other } = await createQuietly()
      const slow = Promise.withResolvers<void>()
      let asked = 0
      const plugin: KyselyPlugin = {
        transformQuery: ({ node }) => node,
        async transformResult({ result }) {
          asked += 1
          if (asked === 2) await slow.promise
          return result
        },
      }
      const directory = directoryOf({ ...store, changed: async () => false, db: store.db.withPlugin(plugin) })
      const principal = await directory.verify(secret)
      await revokeKey(store, other.id)
      await (await open()).db.updateTable('keys').set({ revoked_at: 1 }).where('id', '=', key.id).execute()
      const late = directory.verify(secret)
      await until(() => asked === 2)
      mock.timers.tick(100)
      expect(await late).to.equal(principal)
      slow.resolve()
      await untilRefused(directory, secret)
    })

    it('accepts no key after five minutes without a poll for revocations', async () => {
      mock.timers.enable({ apis: ['setInterval'] })
      const { secret } = await createQuietly()
      let failing = false
      const changed = async () => {
        if (failing) throw new Error('disk I/O error')
        return false
      }
      const directory = directoryOf({ ...store, changed })
      const principal = await directory.verify(secret)
      for (const fail of [true, false, true]) {
        failing = fail
        mock.timers.tick(299_000)
        await setImmediate()
      }
      expect(await directory.verify(secret)).to.equal(principal)
      await store.close()
      mock.timers.tick(2_000)
      await setImmediate()
      await unavailable(directory.verify(secret))
    })

    it('accepts every key again when the database works', async () => {
      const { key, secret } = await createKey(store, LIVE)
      const directory = directoryOf(store)
      await store.db.schema.alterTable('keys').renameTo('hidden').execute()
      await unavailable(directory.verify(secret))
      await store.db.schema.alterTable('hidden').renameTo('keys').execute()
      expect(await directory.verify(secret)).to.include({ keyId: key.id })
    })
  })

  if (kind === 'PostgreSQL') return
  // What it keeps in its own memory is the same for every database, and thousands of look-ups take their time.
  describe('with guessed keys', () => {
    it('keeps a thousand wrong keys in its cache', async () => {
      const gate = gated(store)
      gate.open()
      const directory = directoryOf(gate.store)
      const wrong = Array.from({ length: 1001 }, () => createSecret('live'))
      for (const secret of wrong) await directory.verify(secret)
      await directory.verify(wrong[1000]!)
      expect(gate.asked()).to.equal(1001)
      await directory.verify(wrong[0]!)
      expect(gate.asked()).to.equal(1002)
    })

    it('keeps keys in use in its cache', async () => {
      const { secret } = await createKey(store, LIVE)
      const directory = directoryOf(store)
      const principal = await directory.verify(secret)
      for (let i = 0; i < 12_000; i++) await directory.verify(createSecret('live'))
      await store.close()
      expect(await directory.verify(secret)).to.equal(principal)
    })
  })

  describe('keys of routes.yaml', () => {
    const declared = (secret: string, key: Partial<DeclaredKey> = {}): DeclaredKey => {
      const at = { file: 'routes.yaml', line: 1, column: 1 }
      const owned = { name: 'nightly', kind: 'live', account: 'default' } as const
      return { ...owned, models: ['acme/*'], tags: {}, budgets: [], digest: digestOf(secret), at, ...key }
    }
    const account = (settings: Partial<DeclaredAccount>): DeclaredAccount => {
      const at = { file: 'routes.yaml', line: 1, column: 1 }
      return { id: 'research', models: ['*'], tags: {}, budgets: [], at, ...settings }
    }
    const only = (...keys: DeclaredKey[]) => ({ keys, accounts: new Map() })

    function directoryWith(...keys: DeclaredKey[]): StoredDirectory {
      const directory = directoryOf(store)
      directory.declare(only(...keys))
      return directory
    }

    it('need no database if the file has their account', async () => {
      const secret = createSecret('live')
      const directory = directoryOf(store)
      const research = account({ rateClass: 'batch', tags: { team: 'search', cost: 'r1' } })
      await store.close()
      const key = declared(secret, { account: 'research', tags: { team: 'vision' } })
      directory.declare({ keys: [key], accounts: new Map([['research', research]]) })
      const principal = await directory.verify(secret)
      expect(principal).to.deep.equal({
        keyId: 'routes:nightly',
        name: 'nightly',
        kind: 'live',
        account: 'research',
        models: [['*'], ['acme/*']],
        rateClass: 'batch',
        tags: { team: 'vision', cost: 'r1' },
      })
      expect(await directory.verify(secret)).to.equal(principal)
    })

    it('have the models and the class of their account in the database, also when it is changed and the database fails', async () => {
      const secret = createSecret('live')
      const directory = directoryWith(declared(secret))
      expect(await directory.verify(secret)).to.deep.include({ account: 'default', models: [['*'], ['acme/*']] })
      await editAccount(store, { id: 'default', models: ['acme/small'], rateClass: 'batch' }, GATEWAY)
      const changed = { models: [['acme/small'], ['acme/*']], rateClass: 'batch' }
      expect(await directory.verify(secret)).to.deep.include(changed)
      await store.close()
      expect(await directory.verify(secret)).to.deep.include(changed)
    })

    it('and those of the database have the account of the file with the id of theirs, until it is gone', async () => {
      const { secret } = await createKey(store, { ...LIVE })
      const directory = directoryOf(store)
      const own = account({ id: 'default', models: ['acme/*'], rateClass: 'batch' })
      expect(await directory.verify(secret)).to.deep.include({ models: [['*'], ['*']] })
      directory.declare({ keys: [], accounts: new Map([['default', own]]) })
      expect(await directory.verify(secret)).to.deep.include({ models: [['acme/*'], ['*']], rateClass: 'batch' })
      directory.declare(only())
      expect(await directory.verify(secret)).to.deep.include({ models: [['*'], ['*']] })
    })

    it('are valid only with their routes.yaml, from its first call on', async () => {
      const secret = createSecret('live')
      const directory = directoryOf(store)
      expect(await directory.verify(secret)).to.equal(undefined)
      directory.declare(only(declared(secret)))
      expect(await directory.verify(secret)).to.include({ name: 'nightly' })
      directory.declare(only(declared(secret, { name: 'weekly' })))
      expect(await directory.verify(secret)).to.include({ name: 'weekly' })
      directory.declare(only())
      expect(await directory.verify(secret)).to.equal(undefined)
    })

    it('expire', async () => {
      const secret = createSecret('live')
      expect(await directoryWith(declared(secret, { expires: Date.now() - 1 })).verify(secret)).to.equal(undefined)
      const valid = directoryWith(declared(secret, { expires: Date.now() + 60_000 }))
      expect(await valid.verify(secret)).to.include({ kind: 'live' })
    })

    it('are test keys if the secret begins with sk-test-, although the file says live', async () => {
      const secret = createSecret('test')
      expect(await directoryWith(declared(secret, { kind: 'live' })).verify(secret)).to.include({ kind: 'test' })
    })

    it('are test keys if the file says so, with any secret', async () => {
      const secret = createSecret('live')
      expect(await directoryWith(declared(secret, { kind: 'test' })).verify(secret)).to.include({ kind: 'test' })
    })
  })
})
