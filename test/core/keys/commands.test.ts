import { writeFileSync } from 'node:fs'
import { expect } from 'chai'
import {
  createKeyCommand,
  disableKeyCommand,
  editKeyCommand,
  enableKeyCommand,
  listKeysCommand,
  revokeKeyCommand,
  rotateKeyCommand,
} from '../../../core/cli/keys/keys.ts'
import { findKey } from '../../../core/keys/keys.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { runCommand } from '../../support/run-command.ts'
import { storesIn } from '../store/stores.ts'
import { openDirectory } from './stored-directory.ts'

const HOUR = 3_600_000

onEachDatabase('umg keys', (database, databaseKind) => {
  const { url, open } = storesIn(database)

  // A gateway has made the database.
  beforeEach(async () => void (await open()))
  const at = () => ({ data: 'unused', database: url() })
  const create = (options: Partial<Parameters<typeof createKeyCommand>[0]> = {}) =>
    runCommand((io) => createKeyCommand({ ...at(), name: 'laptop', ...options }, io))
  const list = (options = {}) => runCommand((io) => listKeysCommand({ ...at(), ...options }, io))
  const revoke = (id: string, options = {}) => runCommand((io) => revokeKeyCommand({ ...at(), id, ...options }, io))
  const disable = (id: string) => runCommand((io) => disableKeyCommand({ ...at(), id }, io))
  const enable = (id: string) => runCommand((io) => enableKeyCommand({ ...at(), id }, io))
  const edit = (id: string, options = {}) => runCommand((io) => editKeyCommand({ ...at(), id, ...options }, io))
  const rotate = (id: string, options: { readonly overlap: number }) =>
    runCommand((io) => rotateKeyCommand({ ...at(), id, ...options }, io))

  describe('create', () => {
    it('prints a key that works, alone on stdout', async () => {
      const { code, stdout, stderr } = await create()
      expect(code).to.equal(0)
      expect(stdout).to.match(/^sk-live-[0-9A-Za-z]{36}\n$/)
      expect(stderr).to.include('never shown again').and.not.include(stdout.trim())
      const directory = openDirectory(await open())
      expect(await directory.verify(stdout.trim())).to.include({ name: 'laptop', kind: 'live' })
      await directory.close()
    })

    it('prints the key as one line of JSON', async () => {
      const { stdout, stderr } = await create({
        test: true,
        models: ['acme/*'],
        class: 'batch',
        expires: '2999-01-31',
        budget: ['20 USD/day', '0.5 USD/week'],
        tags: ['team=research'],
        json: true,
      })
      const { id, secret, key, createdAt, ...rest } = JSON.parse(stdout)
      expect(stdout).to.match(/^[^\n]+\n$/)
      expect(stderr).to.equal('')
      expect(id).to.match(/^key_/)
      expect(secret).to.match(/^sk-test-/)
      expect(key).to.equal(`${secret.slice(0, 12)}…${secret.slice(-4)}`)
      expect(Date.parse(createdAt)).to.be.within(Date.now() - 60_000, Date.now())
      expect(rest).to.deep.equal({
        name: 'laptop',
        kind: 'test',
        account: 'default',
        models: ['acme/*'],
        class: 'batch',
        budgets: ['20 USD/day', '0.50 USD/week'],
        tags: { team: 'research' },
        status: 'active',
        lastUsedAt: null,
        expiresAt: '2999-01-31T00:00:00Z',
      })
    })

    it('notes that the rate class was not checked', async () => {
      const { code, stdout, stderr } = await create({ class: 'batch' })
      expect(code).to.equal(0)
      expect(stdout).to.match(/^sk-live-[0-9A-Za-z]{36}\n$/)
      expect(stderr).to.match(/The rate class "batch" was not checked.*routes\.yaml must declare it/)
      expect((await create()).stderr).to.not.include('rate class')
    })

    it('prints null for absent fields', async () => {
      expect(JSON.parse((await create({ json: true })).stdout)).to.deep.include({ models: ['*'], class: null, expiresAt: null })
    })

    it('takes an instant with its zone as the expiry', async () => {
      const { stdout } = await create({ expires: '2999-01-31T18:30:00+02:00', json: true })
      expect(JSON.parse(stdout)).to.include({ expiresAt: '2999-01-31T16:30:00Z' })
    })

    it('rejects an invalid expiry, and names the valid forms', async () => {
      for (const expires of ['tomorrow', '2999-02-30', '2999-01-31T18:00:00', '31.01.2999', '']) {
        const { code, stdout, stderr } = await create({ expires })
        expect([code, stdout]).to.deep.equal([1, ''])
        expect(stderr).to.include('a date (2027-01-31')
      }
    })

    it('creates nothing with invalid settings', async () => {
      expect(await create({ models: ['gpt-4o'] })).to.include({ code: 1, stdout: '' })
      expect((await list({ json: true })).stdout).to.equal('[]\n')
    })

    if (databaseKind === 'SQLite')
      it('says what to do about a damaged database', async () => {
        writeFileSync(url().slice('sqlite:'.length), 'not a database '.repeat(100))
        const { code, stdout, stderr } = await create()
        expect([code, stdout]).to.deep.equal([1, ''])
        expect(stderr).to.include('Restore a backup')
      })

    it('creates an admin key, and a key of another account', async () => {
      await (await open()).db.insertInto('accounts').values(ACME).execute()
      expect((await create({ admin: true })).stdout).to.match(/^sk-admin-/)
      expect(JSON.parse((await create({ account: 'acc_acme', json: true })).stdout)).to.include({ account: 'acc_acme' })
      expect(await create({ account: 'acc_none' })).to.include({ code: 1, stdout: '' })
    })

    it('rejects a tag without a value, and says how to write one', async () => {
      const { code, stderr } = await create({ tags: ['research'] })
      expect(code).to.equal(1)
      expect(stderr).to.include('team=research')
    })
  })

  describe('list', () => {
    it('prints a row for every key, without secrets', async () => {
      const { secret } = JSON.parse((await create({ json: true })).stdout)
      const { id } = JSON.parse((await create({ name: 'old', test: true, models: ['a/b', 'c/*'], json: true })).stdout)
      await revoke(id)
      const { code, stdout } = await list()
      const [headings, ...rows] = stdout.split('\n').map((line) => line.split(/ {2,}/))
      const first = rows.find((row) => row[1] === 'laptop')
      const second = rows.find((row) => row[1] === 'old')
      expect(code).to.equal(0)
      expect(headings).to.deep.equal(['ID', 'NAME', 'KIND', 'KEY', 'MODELS', 'CREATED', 'EXPIRES', 'STATUS', 'BUDGETS'])
      expect(first?.slice(1, 5)).to.deep.equal(['laptop', 'live', `${secret.slice(0, 12)}…${secret.slice(-4)}`, '*'])
      expect(first?.slice(6, 8)).to.deep.equal(['never', 'active'])
      expect([second?.[0], second?.[4], second?.[7]]).to.deep.equal([id, 'a/b c/*', 'revoked'])
      expect(stdout).to.not.include(secret)
    })

    it('prints the same as JSON', async () => {
      const { secret, ...created } = JSON.parse((await create({ json: true })).stdout)
      const { stdout } = await list({ json: true })
      expect(stdout).to.not.include(secret)
      expect(JSON.parse(stdout)).to.deep.equal([created])
    })

    it('filters keys, and says so if none match', async () => {
      await create({ name: 'laptop' })
      await create({ name: 'ci', test: true })
      const names = async (options: object) =>
        JSON.parse((await list({ ...options, json: true })).stdout).map(({ name }: { name: string }) => name)
      expect(await names({})).to.deep.equal(['laptop', 'ci'])
      expect(await names({ query: 'LAP' })).to.deep.equal(['laptop'])
      expect(await names({ kind: 'test' })).to.deep.equal(['ci'])
      expect(await names({ status: 'revoked' })).to.deep.equal([])
      expect((await list({ query: 'nothing' })).stderr).to.include('No keys match')
    })

    it('says how to create a key if there are none', async () => {
      const { code, stdout, stderr } = await list()
      expect([code, stdout]).to.deep.equal([0, ''])
      expect(stderr).to.include('umg keys create')
    })
  })

  describe('edit', () => {
    it('changes the given settings', async () => {
      const { id } = JSON.parse((await create({ expires: '2999-01-31', class: 'batch', json: true })).stdout)
      const { code, stderr } = await edit(id, { name: 'desk', expires: 'never', models: ['acme/*'] })
      expect([code, stderr]).to.deep.equal([0, `Changed the key ${id} (desk). Running gateways apply it within a second.\n`])
      expect((await edit(id, { class: 'day' })).stderr).to.include('The rate class "day" was not checked')
      const { stdout } = await edit(id, { tags: ['team=a'], json: true })
      expect(JSON.parse(stdout)).to.deep.include({
        name: 'desk',
        models: ['acme/*'],
        class: 'day',
        tags: { team: 'a' },
        expiresAt: null,
      })
    })
  })

  describe('rotate', () => {
    it('prints the new secret alone on stdout; the old one stays valid', async () => {
      const created = JSON.parse((await create({ json: true })).stdout)
      const { code, stdout, stderr } = await rotate(created.id, { overlap: HOUR })
      expect(code).to.equal(0)
      expect(stdout)
        .to.match(/^sk-live-[0-9A-Za-z]{36}\n$/)
        .and.not.include(created.secret)
      expect(stderr).to.include('never shown again').and.not.include(stdout.trim())
      const store = await open()
      const directory = openDirectory(store)
      for (const secret of [created.secret, stdout.trim()]) expect(await directory.verify(secret)).to.include({ name: 'laptop' })
      await directory.close()
      expect((await findKey(store.db, created.id)).expiresAt).to.be.closeTo(Date.now() + HOUR, 60_000)
    })
  })

  describe('disable', () => {
    it('suspends a key until enable', async () => {
      const { id } = JSON.parse((await create({ json: true })).stdout)
      const { code, stderr } = await disable(id)
      expect(code).to.equal(0)
      expect(stderr).to.include(`umg keys enable ${id}`)
      expect(JSON.parse((await list({ status: 'disabled', json: true })).stdout)).to.have.length(1)
      expect((await enable(id)).stderr).to.include('accept it within a second')
      expect(JSON.parse((await list({ status: 'disabled', json: true })).stdout)).to.deep.equal([])
    })
  })

  describe('revoke', () => {
    it('revokes a key, and accepts a repetition', async () => {
      const { id } = JSON.parse((await create({ json: true })).stdout)
      expect((await revoke(id)).code).to.equal(0)
      const { code, stdout } = await revoke(id, { json: true })
      expect(code).to.equal(0)
      expect(JSON.parse(stdout)).to.include({ id, status: 'revoked' })
    })

    it('says which keys before a rotated one stay valid, as disable does', async () => {
      const { id } = JSON.parse((await create({ json: true })).stdout)
      await rotate(id, { overlap: HOUR })
      const { data } = JSON.parse(`{"data": ${(await list({ query: id, json: true })).stdout}}`)
      const successor = data.find((key: { id: string }) => key.id !== id).id
      const disabled = await disable(successor)
      const revoked = await revoke(successor)
      for (const { stderr } of [disabled, revoked])
        expect(stderr).to.match(new RegExp(`The key ${id}, .* stays valid until .*umg keys revoke ${id}\n`))
      expect((await revoke(id)).stderr).to.not.include('stays valid')
    })

    it('names the command that lists keys if the id is unknown', async () => {
      const { code, stdout, stderr } = await revoke('key_unknown')
      expect([code, stdout]).to.deep.equal([1, ''])
      expect(stderr).to.include('There is no key with this id').and.include('`list`')
    })

    it('says how to change a key of routes.yaml, as rotate and edit do', async () => {
      for (const { code, stderr } of [
        await revoke('routes:search'),
        await rotate('routes:search', { overlap: 0 }),
        await edit('routes:search', { name: 'other' }),
      ]) {
        expect(code).to.equal(1)
        expect(stderr).to.include('The key search is declared in routes.yaml').and.include('umg keys generate')
      }
    })
  })
})

const SETTINGS = { models: '["*"]', rate_class: null, max_keys: 100, max_key_days: null, budgets: '[]', declared_at: null }
const ACME = { id: 'acc_acme', name: 'Acme', ...SETTINGS, created_at: 1 }
