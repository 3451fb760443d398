import { once } from 'node:events'
import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { mock } from 'node:test'
import { expect } from 'chai'
import type { Actor } from '../../../core/accounts/audit.ts'
import { listAudit } from '../../../core/accounts/audit.ts'
import type { ErrorName } from '../../../core/error-table.ts'
import { GatewayError } from '../../../core/errors.ts'
import { listKeys, statusOf } from '../../../core/keys/api-key.ts'
import { createSecret } from '../../../core/keys/format.ts'
import type { NewKey } from '../../../core/keys/keys.ts'
import { createKey, editKey, findKey, revokeKey, rotateKey } from '../../../core/keys/keys.ts'
import type { Store } from '../../../core/store/database.ts'
import { digestOf } from '../../../core/text/ids.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { child } from '../store/child.ts'
import { storesIn } from '../store/stores.ts'
import { openDirectory } from './stored-directory.ts'

const LIVE = { name: 'ci', kind: 'live' } as const
const ADA: Actor = { id: 'usr_ada', name: 'Ada', address: '192.0.2.7' }
const HOUR = 3_600_000

/** Invalid settings, each with a part of the message. */
const WRONG: readonly (readonly [Partial<NewKey>, string])[] = [
  [{ name: ' ' }, "'name': it must have 1 to 100 characters"],
  [{ name: 'invoice\u202efdp.exe' }, "'name': it must have 1 to 100 characters, and no control characters or invisible ones"],
  [{ name: 'x'.repeat(101) }, "'name': it must have 1 to 100 characters"],
  [{ name: 'ci\u001b[2J' }, 'no control characters'],
  [{ name: 'ci\nroot' }, 'no control characters'],
  [{ name: 'ci\ud83d' }, 'no control characters'],
  [{ rateClass: 'a\nb' }, "'rate_class': it must have"],
  [{ models: [] }, '"*" matches all models'],
  [{ models: [''] }, '"" matches no model'],
  [{ models: ['openai/*', 'gpt-4o'] }, '"gpt-4o" matches no model'],
  [{ models: ['openai/ *'] }, '"openai/ *" matches no model'],
  [{ expires: Date.now() - 1 }, 'must be in the future'],
  [{ expires: Number.NaN }, 'must be in the future'],
  [{ tags: { 'my team': 'a' } }, '"my team" is not a valid name'],
  [{ tags: { team: 'a\nb' } }, "'tags.team': it must have"],
  [{ tags: Object.fromEntries(Array.from({ length: 11 }, (_, i) => [`t${i}`, 'x'])) }, 'at most 10'],
]

async function refusal(doing: Promise<unknown>, row: ErrorName): Promise<string> {
  const outcome = await doing.catch((error: unknown) => error)
  expect(outcome).to.be.instanceOf(GatewayError).and.include({ row })
  return (outcome as Error).message
}

onEachDatabase('keys', (database, kind) => {
  const { url, open } = storesIn(database)
  let store: Store
  beforeEach(async () => {
    store = await open()
  })
  afterEach(() => mock.timers.reset())

  const named = async (filter: Parameters<typeof listKeys>[1]) => (await listKeys(store, filter)).data.map(({ name }) => name)

  const actions = async () =>
    (await listAudit(store)).data.map(({ actor_id, action, object_id }) => [actor_id, action, object_id])

  it('are listed as they were created, newest first', async () => {
    mock.timers.enable({ apis: ['Date'], now: 1000 })
    const expires = 60_000
    const { key: first } = await createKey(
      store,
      { ...LIVE, models: ['acme/*'], rateClass: 'batch', expires, tags: { team: 'a' } },
      ADA,
    )
    mock.timers.setTime(1001)
    const { key: second, secret } = await createKey(store, { name: 'a test', kind: 'test' })
    expect(await listKeys(store)).to.deep.equal({ data: [second, first], next_cursor: null })
    expect(first).to.deep.include({
      name: 'ci',
      kind: 'live',
      account: { id: 'default', name: 'default' },
      models: ['acme/*'],
      rateClass: 'batch',
      tags: { team: 'a' },
      createdBy: { id: 'usr_ada', name: 'Ada' },
      expiresAt: expires,
    })
    expect(second).to.deep.include({ kind: 'test', models: ['*'], masked: `${secret.slice(0, 12)}…${secret.slice(-4)}` })
    expect(first.id)
      .to.match(/^key_[0-9A-Za-z]{20}$/)
      .and.not.equal(second.id)
  })

  it('are listed page by page without gaps or repetitions, even if others are created meanwhile', async () => {
    mock.timers.enable({ apis: ['Date'], now: 1000 })
    const made: string[] = []
    // Five of them in one moment.
    for (let i = 0; i < 7; i++) {
      if (i > 4) mock.timers.tick(1)
      made.push((await createKey(store, { ...LIVE, name: `key ${i}` })).key.id)
    }
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await listKeys(store, { limit: 2, ...(cursor && { cursor }) })
      expect(page.data).to.have.length.within(1, 2)
      seen.push(...page.data.map(({ id }) => id))
      cursor = page.next_cursor ?? undefined
      mock.timers.tick(1)
      await createKey(store, { ...LIVE, name: 'late' })
    } while (cursor !== undefined)
    expect(seen.slice(0, 2)).to.deep.equal([made[6], made[5]])
    expect(seen).to.have.members(made)
  })

  for (const cursor of ['', 'x', 'bm9uc2Vuc2U', Buffer.from("1 key' or 1=1").toString('base64url')]) {
    it(`are not listed with the invalid cursor "${cursor}"`, async () => {
      expect(await refusal(listKeys(store, { cursor }), 'invalid_value')).to.include("'cursor'")
    })
  }

  it('are found by part of the name, the first characters and the last four, ignoring case', async () => {
    const { secret } = await createKey(store, { ...LIVE, name: 'Ada’s Laptop' })
    await createKey(store, { ...LIVE, name: 'ci' })
    for (const q of ['laptop', 'ADA’S', secret.slice(0, 12), secret.slice(8, 12), secret.slice(-4)])
      expect(await named({ q })).to.include('Ada’s Laptop')
    expect(await named({ q: 'laptop' })).to.deep.equal(['Ada’s Laptop'])
    expect(await named({ q: 'nothing like it' })).to.deep.equal([])
  })

  it('are found by "%", "_" and "\\" literally', async () => {
    for (const name of ['100%', 'a_b', 'a\\b', 'axb']) await createKey(store, { ...LIVE, name })
    expect(await named({ q: '%' })).to.deep.equal(['100%'])
    expect(await named({ q: '_' })).to.deep.equal(['a_b'])
    expect(await named({ q: '\\' })).to.deep.equal(['a\\b'])
  })

  it('are found by status, kind and account', async () => {
    const { key } = await createKey(store, { ...LIVE, name: 'revoked' })
    await revokeKey(store, key.id)
    await createKey(store, { ...LIVE, name: 'expired', expires: Date.now() + HOUR })
    await store.db.updateTable('keys').set({ expires_at: 1 }).where('name', '=', 'expired').execute()
    await createKey(store, { ...LIVE, name: 'expiring', expires: Date.now() + HOUR })
    await createKey(store, { name: 'active', kind: 'test' })
    await createKey(store, { name: 'managing', kind: 'admin' })
    expect(await named({ status: 'revoked' })).to.deep.equal(['revoked'])
    expect(await named({ status: 'expired' })).to.deep.equal(['expired'])
    expect(await named({ status: 'active' })).to.have.members(['active', 'expiring', 'managing'])
    expect(await named({ kind: 'test' })).to.deep.equal(['active'])
    expect(await named({ withoutAdminKeys: true, status: 'active' })).to.have.members(['active', 'expiring'])
    expect(await named({ account: 'acc_other' })).to.deep.equal([])
  })

  it('have their secret only in the reply that created them', async () => {
    const { key, secret } = await createKey(store, LIVE)
    const directory = openDirectory(store)
    await directory.verify(secret)
    await directory.close()
    const rotated = await rotateKey(store, { id: key.id, overlap: HOUR }, ADA)
    const secrets = [secret, rotated.secret]
    const tables = ['keys', 'audit'] as const
    const rows = await Promise.all(tables.map((table) => store.db.selectFrom(table).selectAll().execute()))
    const kept = [JSON.stringify([key, await listKeys(store), await revokeKey(store, key.id), rows])]
    if (kind === 'SQLite') {
      const folder = dirname(url().slice('sqlite:'.length))
      kept.push(...readdirSync(folder).map((name) => readFileSync(join(folder, name), 'latin1')))
    }
    expect(kept.some((text) => text.includes(digestOf(secret)))).to.equal(true)
    // Without its first twelve and last four characters, which are for display.
    for (const text of kept) for (const each of secrets) expect(text).to.not.include(each.slice(12, -4))
  })

  it('that are disabled keep everything else, and are what they were when they are enabled', async () => {
    const { key } = await createKey(store, LIVE)
    const disabled = await editKey(store, { id: key.id, disabled: true }, ADA)
    expect(statusOf(disabled)).to.equal('disabled')
    const statuses = ['active', 'disabled'] as const
    const listed = async () =>
      Promise.all(statuses.map(async (status) => (await listKeys(store, { status })).data.map(({ id }) => id)))
    expect(await listed()).to.deep.equal([[], [key.id]])
    expect(await refusal(rotateKey(store, { id: key.id, overlap: 0 }, ADA), 'conflict')).to.include('active')
    expect(await editKey(store, { id: key.id, disabled: false }, ADA)).to.deep.equal(key)
    expect(await listed()).to.deep.equal([[key.id], []])
  })

  it('are active, disabled, expired or revoked', async () => {
    const { key } = await createKey(store, { ...LIVE, expires: Date.now() + 60_000 })
    expect(statusOf(key)).to.equal('active')
    expect(statusOf({ ...key, disabledAt: Date.now() })).to.equal('disabled')
    expect(statusOf({ ...key, expiresAt: Date.now(), disabledAt: Date.now() })).to.equal('expired')
    expect(statusOf({ ...key, expiresAt: Date.now(), revokedAt: Date.now() })).to.equal('revoked')
  })

  it('that are revoked again keep the time of the first revocation', async () => {
    const { key } = await createKey(store, LIVE)
    const { key: other } = await createKey(store, LIVE)
    const revoked = await revokeKey(store, key.id)
    await store.db.updateTable('keys').set({ revoked_at: 1000 }).where('id', '=', key.id).execute()
    expect(revoked.revokedAt).to.be.a('number')
    expect((await revokeKey(store, key.id)).revokedAt).to.equal(1000)
    expect((await listKeys(store)).data).to.have.deep.members([{ ...key, revokedAt: 1000 }, other])
    expect((await actions()).filter(([, action]) => action === 'key.revoke')).to.have.length(1)
  })

  it('that do not exist cannot be revoked, edited or rotated', async () => {
    const id = "key_1' OR '1'='1"
    const ways = [
      () => revokeKey(store, id),
      () => editKey(store, { id, name: 'x' }, ADA),
      () => rotateKey(store, { id, overlap: 0 }, ADA),
    ]
    for (const way of ways) expect(await refusal(way(), 'object_not_found')).to.include('There is no key')
    expect(await refusal(revokeKey(store, createSecret('live')), 'object_not_found')).to.not.include('sk-live-')
  })

  it('belong to an account that exists', async () => {
    expect(await refusal(createKey(store, { ...LIVE, account: 'acc_none' }), 'invalid_value')).to.include('no such account')
  })

  it('cannot be created or edited with invalid settings', async () => {
    const { key } = await createKey(store, LIVE)
    for (const [wrong, advice] of WRONG) {
      expect(await refusal(createKey(store, { ...LIVE, ...wrong }), 'invalid_value')).to.include(advice)
      expect(await refusal(editKey(store, { id: key.id, ...wrong }, ADA), 'invalid_value')).to.include(advice)
    }
    expect((await listKeys(store)).data).to.deep.equal([key])
  })

  it('may have names of a hundred characters in any script', async () => {
    const name = '鍵🗝'.repeat(50)
    expect((await createKey(store, { ...LIVE, name })).key.name).to.equal(name)
  })

  describe('that are edited', () => {
    it('change the given settings, and are audited with the actor and the changes', async () => {
      const { key } = await createKey(store, { ...LIVE, rateClass: 'batch', tags: { team: 'a' } })
      const edited = await editKey(store, { id: key.id, name: 'night', models: ['acme/*'], rateClass: null }, ADA)
      expect(edited).to.deep.equal({ ...key, name: 'night', models: ['acme/*'], rateClass: undefined })
      const [line] = (await listAudit(store)).data
      expect(line).to.include({
        actor_id: 'usr_ada',
        actor_name: 'Ada',
        action: 'key.edit',
        object_id: key.id,
        address: '192.0.2.7',
      })
      expect(JSON.parse(line!.changes)).to.deep.equal({
        name: ['ci', 'night'],
        models: [['*'], ['acme/*']],
        rate_class: ['batch', null],
      })
    })

    it('may keep a past expiry, but not get one', async () => {
      const { key } = await createKey(store, { ...LIVE, expires: Date.now() + HOUR })
      await store.db.updateTable('keys').set({ expires_at: 1000 }).execute()
      expect(await editKey(store, { id: key.id, name: 'old', expires: 1000 }, ADA)).to.include({ name: 'old', expiresAt: 1000 })
      await refusal(editKey(store, { id: key.id, expires: 1001 }, ADA), 'invalid_value')
    })

    it('must not be revoked', async () => {
      const { key } = await createKey(store, LIVE)
      await revokeKey(store, key.id)
      expect(await refusal(editKey(store, { id: key.id, name: 'x' }, ADA), 'conflict')).to.include('Create another one')
    })
  })

  describe('that are rotated', () => {
    it('stay valid for the overlap; their successor has the same rights and lifetime', async () => {
      const given = { ...LIVE, models: ['acme/*'], rateClass: 'batch', tags: { team: 'a' }, expires: Date.now() + 90 * HOUR }
      const { key, secret } = await createKey(store, given)
      const before = Date.now()
      const made = await rotateKey(store, { id: key.id, overlap: HOUR }, ADA)
      const { id, name, models, rateClass, tags, expiresAt } = made.key
      expect({ name, models, rateClass, tags }).to.deep.equal({
        name: 'ci',
        models: ['acme/*'],
        rateClass: 'batch',
        tags: { team: 'a' },
      })
      expect(expiresAt! - made.key.createdAt).to.be.closeTo(90 * HOUR, 60_000)
      const old = await findKey(store.db, key.id)
      expect([old.replacedBy, made.key.replaces]).to.deep.equal([id, key.id])
      expect(old.expiresAt).to.be.within(before + HOUR, Date.now() + HOUR)
      const directory = openDirectory(store)
      for (const each of [secret, made.secret]) expect(await directory.verify(each)).to.include({ name: 'ci' })
      await directory.close()
      expect(await actions()).to.have.deep.members([
        ['gateway', 'key.create', key.id],
        ['usr_ada', 'key.create', id],
        ['usr_ada', 'key.rotate', key.id],
      ])
    })

    it('do not expire later than before', async () => {
      const expires = Date.now() + HOUR
      const { key } = await createKey(store, { ...LIVE, expires })
      await rotateKey(store, { id: key.id, overlap: 24 * HOUR }, ADA)
      expect(await findKey(store.db, key.id)).to.include({ expiresAt: expires })
    })

    it('without an overlap are revoked at once', async () => {
      const { key } = await createKey(store, LIVE)
      await rotateKey(store, { id: key.id, overlap: 0 }, ADA)
      expect(statusOf(await findKey(store.db, key.id))).to.equal('revoked')
    })

    it('twice concurrently get one successor', async () => {
      const { key } = await createKey(store, LIVE)
      const rivals = kind === 'SQLite' ? [store, store, store] : [store, await open(), await open()]
      const rotations = rivals.map((each) => rotateKey(each, { id: key.id, overlap: HOUR }, ADA))
      const outcomes = await Promise.all(rotations.map((rotation) => rotation.catch((error: unknown) => error)))
      const refused = outcomes.filter((outcome) => outcome instanceof GatewayError)
      expect(refused.map(({ row }) => row)).to.deep.equal(['conflict', 'conflict'])
      expect((await listKeys(store)).data).to.have.length(2)
    })

    it('must be active', async () => {
      const { key } = await createKey(store, LIVE)
      await revokeKey(store, key.id)
      expect(await refusal(rotateKey(store, { id: key.id, overlap: 0 }, ADA), 'conflict')).to.include('Only an active key')
      expect((await listKeys(store)).data).to.have.length(1)
    })
  })

  it('survive kill -9 once they are created, with their lines of the audit trail', async () => {
    for (let round = 1; round <= 3; round++) {
      const creator = child(new URL('create-until-killed.ts', import.meta.url), url())
      const handedOut: string[] = []
      for await (const line of createInterface(creator.stdout)) {
        handedOut.push(line)
        if (handedOut.length === 25 * round) creator.kill('SIGKILL')
      }
      expect(creator.signalCode ?? (await once(creator, 'exit'))[1]).to.equal('SIGKILL')
      const stored = await store.db.selectFrom('keys').select(['id', 'digest']).execute()
      const digests = new Set(stored.map(({ digest }) => digest))
      const audited = await store.db.selectFrom('audit').select('object_id').where('action', '=', 'key.create').execute()
      expect(handedOut.filter((secret) => !digests.has(digestOf(secret)))).to.deep.equal([])
      expect(handedOut.length).to.be.at.least(25 * round)
      expect(audited.map(({ object_id }) => object_id)).to.have.members(stored.map(({ id }) => id))
    }
  })
})
