import { expect } from 'chai'
import { noteDeclaredAccounts } from '../../../core/accounts/accounts.ts'
import { listAudit } from '../../../core/accounts/audit.ts'
import { acceptInvitation } from '../../../core/accounts/invitations.ts'
import { createKeyCommand, listKeysCommand } from '../../../core/cli/keys/keys.ts'
import { createAccountCommand, editAccountCommand, listAccountsCommand } from '../../../core/cli/people/accounts.ts'
import { inviteCommand, listInvitationsCommand, withdrawCommand } from '../../../core/cli/people/invitations.ts'
import { editUserCommand, endSessionsCommand, listUsersCommand } from '../../../core/cli/people/users.ts'
import { onEachDatabase } from '../../support/databases.ts'
import { type CommandRun, runCommand } from '../../support/run-command.ts'
import { storesIn } from '../store/stores.ts'

const CONSOLE = 'https://llm.example.com'

onEachDatabase('umg accounts', (database) => {
  const { url, open } = storesIn(database)
  const at = () => ({ data: 'unused', database: url() })
  const create = (options: object = {}) =>
    runCommand((io) => createAccountCommand({ ...at(), name: 'Acme', models: ['openai/*'], ...options }, io))
  const list = (options: object = {}) => runCommand((io) => listAccountsCommand({ ...at(), ...options }, io))
  const edit = (id: string, options: object) => runCommand((io) => editAccountCommand({ ...at(), id, ...options }, io))

  it('creates one and prints its id, changes it, and lists them all', async () => {
    const { stdout, stderr } = await create({ class: 'day' })
    const id = stdout.trim()
    expect(id).to.match(/^acc_/)
    expect(stderr).to.include('The rate class "day" was not checked')
    expect((await edit(id, { name: 'Acme Ltd', models: ['*'] })).stderr).to.include(`Changed the account ${id} (Acme Ltd)`)
    expect((await edit(id, { class: 'batch' })).stderr).to.include('The rate class "batch" was not checked')
    await edit(id, { budget: ['500 USD/month'] })
    const [headings, ...rows] = (await list()).stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(headings).to.deep.equal(['ID', 'NAME', 'MODELS', 'CLASS', 'KEYS', 'USERS', 'CREATED', 'BUDGETS', 'SOURCE'])
    expect(rows.map((row) => row.slice(0, 3))).to.deep.equal([
      ['default', 'default', '*'],
      [id, 'Acme Ltd', '*'],
    ])
    const accounts = JSON.parse((await list({ json: true })).stdout)
    const created = { id, name: 'Acme Ltd', class: 'batch', budgets: ['500 USD/month'], keys: 0, maxKeys: 100, users: 0 }
    expect(accounts[1]).to.deep.include(created)
    await edit(id, { budget: ['none'] })
    expect(JSON.parse((await list({ json: true })).stdout)[1].budgets).to.deep.equal([])
  })

  it('says which settings of an account of routes.yaml have no effect, with its line', async () => {
    const store = await open()
    await noteDeclaredAccounts(store, new Map([['research', 'routes.yaml:71']]))
    const { code, stderr } = await edit('research', { name: 'Research', class: 'batch', budget: ['5 USD/day'] })
    expect(code).to.equal(0)
    expect(stderr).to.include('But routes.yaml:71 declares this account').and.include('setting --class, --budget has no effect')
    expect((await edit('research', { name: 'Lab', maxKeys: 3 })).stderr).to.not.include('routes.yaml')
    const listed = await list()
    expect(listed.stdout)
      .to.match(/^research .*routes\.yaml:71$/m)
      .and.not.include('5 USD/day')
      .and.not.include('batch')
    expect(listed.stderr).to.include('budgets of research are those of the file and line under SOURCE')
    await noteDeclaredAccounts(store, new Map())
    expect((await edit('research', { models: ['*'] })).stderr).to.not.include('routes.yaml:71')
    expect(JSON.parse((await list({ json: true })).stdout)[1]).to.include({ id: 'research', source: 'database' })
    const undeclared = await list()
    expect(undeclared.stdout).to.include('5 USD/day')
    expect(undeclared.stderr).to.equal('')
  })

  it('sets how many keys an account may have, and umg keys create says when it has as many', async () => {
    const id = (await create({ maxKeys: 2 })).stdout.trim()
    const createKey = () => runCommand((io) => createKeyCommand({ ...at(), name: 'ci', account: id }, io))
    expect([(await createKey()).code, (await createKey()).code]).to.deep.equal([0, 0])
    const refused = await createKey()
    expect(refused).to.include({ code: 1, stdout: '' })
    expect(refused.stderr).to.include('The account Acme has 2 keys; it may have 2.')
    await edit(id, { maxKeys: 3 })
    expect((await createKey()).code).to.equal(0)
  })

  it('sets how long keys may live, and umg keys list names those that live longer', async () => {
    const id = (await create({})).stdout.trim()
    const createKey = (options: object = {}) =>
      runCommand((io) => createKeyCommand({ ...at(), name: 'ci', account: id, json: true, ...options }, io))
    const listKeys = (options: object = {}) => runCommand((io) => listKeysCommand({ ...at(), ...options }, io))
    const old = JSON.parse((await createKey()).stdout)
    await edit(id, { maxKeyDays: 30 })
    expect(JSON.parse((await list({ json: true })).stdout)[1]).to.include({ id, maxKeyDays: 30 })
    const made = JSON.parse((await createKey()).stdout)
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).to.equal(30 * 86_400_000)
    for (const expires of ['never', '2999-01-31']) {
      const refused = await createKey({ expires })
      expect(refused).to.include({ code: 1, stdout: '' })
      expect(refused.stderr).to.include('keys of this account live 30 days at most')
    }
    const { stderr } = await listKeys()
    expect(stderr).to.include(`live longer than its 30 days: ${old.id} (ci). Rotate them`).and.not.include(made.id)
    expect((await listKeys({ status: 'revoked' })).stderr).to.equal('No keys match.\n')
    await edit(id, { maxKeyDays: null })
    expect((await listKeys()).stderr).to.equal('')
    expect(JSON.parse((await createKey()).stdout).expiresAt).to.equal(null)
  })

  it('says what is wrong', async () => {
    expect(await create({ models: ['gpt-4o'] })).to.include({ code: 1, stdout: '' })
    expect((await edit('acc_none', { name: 'x' })).stderr)
      .to.include('There is no account with this id')
      .and.include('`list`')
  })
})

onEachDatabase('umg users', (database) => {
  const { url, open } = storesIn(database)

  // A gateway has made the database.
  beforeEach(async () => void (await open()))

  const at = () => ({ data: 'unused', database: url() })
  const invite = (email: string, options: object = {}) =>
    runCommand((io) => inviteCommand({ ...at(), email, role: 'member', account: 'default', consoleUrl: CONSOLE, ...options }, io))
  const list = (options: object = {}) => runCommand((io) => listUsersCommand({ ...at(), ...options }, io))
  const invitations = (options: object = {}) => runCommand((io) => listInvitationsCommand({ ...at(), ...options }, io))
  const withdraw = (id: string, options: object = {}) => runCommand((io) => withdrawCommand({ ...at(), id, ...options }, io))
  const edit = (id: string, options: object) => runCommand((io) => editUserCommand({ ...at(), id, ...options }, io))

  async function join(invited: CommandRun): Promise<string> {
    const token = invited.stdout.trim().split('#')[1]!
    const person = { token, name: 'Ada', password: 'correct horse battery', address: '192.0.2.1' }
    await acceptInvitation(await open(), person)
    return JSON.parse((await list({ json: true })).stdout).at(-1).id
  }

  it('invites by a link to the console, alone on stdout', async () => {
    const { code, stdout, stderr } = await invite('Ada@Example.com', { consoleUrl: `${CONSOLE}/` })
    expect(code).to.equal(0)
    expect(stdout).to.match(/^https:\/\/llm\.example\.com\/console\/invitation#[\w-]{43}\n$/)
    expect(stderr).to.include('ada@example.com').and.not.include(stdout.trim())
    const json = JSON.parse((await invite('bob@example.com', { role: 'admin', json: true })).stdout)
    expect(json).to.include({ email: 'bob@example.com', role: 'admin', account: 'default' })
  })

  it('rejects an invalid address', async () => {
    for (const email of ['nowhere', 'a b@example.com', '@example.com']) {
      const { code, stdout, stderr } = await invite(email)
      expect({ code, stdout }, email).to.deep.equal({ code: 1, stdout: '' })
      expect(stderr).to.include('not an e-mail address')
    }
  })

  it('lists the open invitations without their links; if there are none, says how to create one', async () => {
    expect(await invitations()).to.include({ code: 0, stdout: '' })
    expect((await invitations()).stderr).to.include('umg users invite')
    expect((await invitations({ json: true })).stdout).to.equal('[]\n')
    await join(await invite('ada@example.com', { role: 'admin' }))
    const { link, ...bob } = JSON.parse((await invite('bob@example.com', { json: true })).stdout)
    await invite('cy@example.com', { role: 'admin' })
    const listed = await invitations()
    const [headings, ...rows] = listed.stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(headings).to.deep.equal(['ID', 'EMAIL', 'ROLE', 'ACCOUNT', 'INVITED', 'BY', 'EXPIRES'])
    expect(rows.map(([, email, role]) => [email, role])).to.have.deep.members([
      ['bob@example.com', 'member'],
      ['cy@example.com', 'admin'],
    ])
    expect(rows[0]).to.include.members(['default', 'command line'])
    const json = await invitations({ json: true })
    expect(JSON.parse(json.stdout)).to.have.length(2).and.deep.include(bob)
    expect(listed.stdout + json.stdout).to.not.include(link.split('#')[1])
  })

  it('withdraws an invitation: its link is invalid, and the audit trail has the actor', async () => {
    const { id, link } = JSON.parse((await invite('bob@example.com', { json: true })).stdout)
    const { code, stdout, stderr } = await withdraw(id)
    expect({ code, stdout }).to.deep.equal({ code: 0, stdout: '' })
    expect(stderr).to.equal(`Withdrew the invitation ${id} (bob@example.com). Its link no longer works.\n`)
    expect((await invitations({ json: true })).stdout).to.equal('[]\n')
    const failure: unknown = await join({ code, stdout: link, stderr }).catch((error: unknown) => error)
    expect(failure).to.have.property('row', 'link_invalid')
    const { data } = await listAudit(await open(), { action: 'invitation.withdraw' })
    expect(data.map(({ actor_id, object_id }) => [actor_id, object_id])).to.deep.equal([['command-line', id]])
    const other = JSON.parse((await invite('cy@example.com', { json: true })).stdout)
    expect(JSON.parse((await withdraw(other.id, { json: true })).stdout)).to.deep.equal({ id: other.id, email: 'cy@example.com' })
  })

  it('rejects an unknown invitation, and names the command that lists them', async () => {
    const { id } = JSON.parse((await invite('bob@example.com', { json: true })).stdout)
    await withdraw(id)
    for (const unknown of [id, 'inv_none'])
      expect(await withdraw(unknown)).to.deep.equal({
        code: 1,
        stdout: '',
        stderr: 'There is no invitation with this id. The command `invitations` shows them all.\n',
      })
  })

  it('lists users; if there are none, says how to invite one', async () => {
    expect(await list()).to.include({ code: 0, stdout: '' })
    expect((await list()).stderr).to.include('umg users invite')
    const id = await join(await invite('ada@example.com', { role: 'admin' }))
    const [headings, row] = (await list()).stdout
      .trim()
      .split('\n')
      .map((line) => line.split(/ {2,}/))
    expect(headings).to.deep.equal(['ID', 'EMAIL', 'NAME', 'ROLE', 'ACCOUNT', 'LAST SIGN-IN', 'STATUS'])
    expect(row?.slice(0, 5)).to.deep.equal([id, 'ada@example.com', 'Ada', 'admin', 'default'])
    expect(row?.[6]).to.equal('active')
  })

  it('changes, disables, enables and signs out a user', async () => {
    await join(await invite('ada@example.com', { role: 'admin' }))
    const id = await join(await invite('bob@example.com'))
    expect((await edit(id, { role: 'admin', name: 'Bob' })).stderr).to.equal(
      'Bob (bob@example.com) is active, with the role admin.\n',
    )
    expect((await edit(id, { disabled: true })).stderr).to.include('is disabled')
    const store = await open()
    const sessions = async () => (await store.db.selectFrom('sessions').select('user_id').execute()).map(({ user_id }) => user_id)
    expect(await sessions())
      .to.have.length(1)
      .and.not.include(id)
    expect(JSON.parse((await edit(id, { disabled: false, json: true })).stdout)).to.include({ id, disabled: false })
    const [other] = await sessions()
    expect(await runCommand((io) => endSessionsCommand({ ...at(), id: other! }, io))).to.include({ code: 0 })
    expect(await sessions()).to.deep.equal([])
  })

  it('does not disable the last admin', async () => {
    const id = await join(await invite('ada@example.com', { role: 'admin' }))
    expect((await edit(id, { disabled: true })).stderr).to.include('the last admin')
  })
})
