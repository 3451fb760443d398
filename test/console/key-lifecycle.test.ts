import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { LeakRecorder } from './leak-recorder.ts'
import { MEMBER } from './management.ts'

const ADMIN = { name: 'Ada Byron', email: 'ada@example.com', password: 'correct horse battery' }
const MESSAGES = [{ role: 'user' as const, content: 'Hello!' }]

describeInBrowser('the console, from the setup link to a revoked key', (open) => {
  let fixture: ConsoleFixture
  let admin: Page
  let member: Page
  let invitation: string
  const recorder = new LeakRecorder()
  /** The member's key, and its successor. */
  const secrets: string[] = []
  let requestId: string

  before(async () => {
    fixture = await startConsole()
    admin = await open()
    member = await open({ permissions: ['clipboard-read', 'clipboard-write'] })
    recorder.watch(admin)
    recorder.watch(member)
  })

  // The steps depend on each other: after a failure the rest is skipped.
  let broken = false
  beforeEach(function () {
    if (broken) this.skip()
  })
  afterEach(function () {
    broken ||= this.currentTest?.state === 'failed'
  })

  after(() => fixture?.stop())

  const call = (secret: string) =>
    fixture.gateway
      .openai(secret)
      .chat.completions.create({ model: 'acme/smart', messages: MESSAGES }, { maxRetries: 0 })
      .withResponse()

  /** Copies the secret from its dialog, and closes the dialog. */
  async function save(dialog: Locator): Promise<string> {
    await dialog.getByRole('button', { name: 'Copy', exact: true }).click()
    await dialog.getByRole('button', { name: 'Copied', exact: true }).waitFor()
    const copied = String(await member.evaluate('navigator.clipboard.readText()'))
    await dialog.getByLabel('I have saved this key').check()
    await dialog.getByRole('button', { name: 'Done' }).click()
    await dialog.waitFor({ state: 'hidden' })
    return copied
  }

  it('creates the first admin by the setup link', async () => {
    await admin.goto(fixture.setupLink)
    await admin.getByLabel('Your name').fill(ADMIN.name)
    await admin.getByLabel('E-mail').fill(ADMIN.email)
    await admin.getByRole('textbox', { name: 'Password' }).fill(ADMIN.password)
    expect(admin.url(), 'the token is taken out of the address').to.equal(fixture.address('/setup'))
    await admin.getByRole('button', { name: 'Create admin' }).click()
    await admin.getByRole('heading', { name: 'API keys' }).waitFor()
  })

  it('lets the admin create an account', async () => {
    await admin.getByRole('link', { name: 'Accounts & users' }).click()
    await admin.getByRole('button', { name: 'Create account' }).click()
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('Name').fill('Field team')
    await dialog.getByRole('button', { name: 'Create account' }).click()
    await admin.getByRole('cell', { name: 'Field team', exact: true }).waitFor()
  })

  it('lets the admin invite a user into it, by a link that is shown once', async () => {
    await admin.getByRole('tab', { name: 'Invitations' }).click()
    await admin.getByRole('button', { name: 'Invite a user' }).click()
    const form = admin.getByRole('dialog', { name: 'Invite a user' })
    await form.getByLabel('E-mail').fill(MEMBER.email)
    await form.getByRole('combobox', { name: 'Account' }).click()
    await admin.getByRole('option', { name: 'Field team' }).click()
    await form.getByRole('button', { name: 'Create invitation' }).click()
    const dialog = admin.getByRole('dialog', { name: 'Send this link' })
    invitation = (await dialog.locator('code').textContent())!
    await dialog.getByRole('button', { name: 'Done' }).click()
    await admin.getByRole('cell', { name: MEMBER.email, exact: true }).waitFor()
  })

  it('lets the invited person join', async () => {
    await member.goto(invitation)
    await member.getByText(`You were invited to Field team as ${MEMBER.email}.`).waitFor()
    await member.getByLabel('Your name').fill(MEMBER.name)
    await member.getByRole('textbox', { name: 'Password' }).fill(MEMBER.password)
    await member.getByRole('button', { name: 'Join' }).click()
    await member.getByText('No API keys yet').waitFor()
    expect(await member.getByRole('link', { name: 'Audit' }).count(), "an admin's page").to.equal(0)
  })

  it('shows a new key once: only Done closes the dialog, after the key is confirmed as saved', async () => {
    // The browser goes back only to a page that was loaded.
    for (const page of ['Models', 'API keys']) {
      await member.getByRole('link', { name: page }).click()
      await member.getByRole('heading', { name: page, level: 1 }).waitFor()
    }
    await member.getByRole('button', { name: 'Create your first key' }).click()
    const form = member.getByRole('dialog', { name: 'Create an API key' })
    await form.getByLabel('Name').fill('shop')
    await form.getByRole('button', { name: 'Create key' }).click()
    const dialog = member.getByRole('dialog', { name: 'Save your key' })
    const shown = (await dialog.locator('code').first().textContent())!
    await member.keyboard.press('Escape')
    await member.mouse.click(5, 5)
    await member.keyboard.press('Control+k')
    await member.goBack()
    expect(await dialog.getByRole('button', { name: 'Done' }).isDisabled()).to.equal(true)
    expect(await dialog.getByRole('region', { name: 'curl command' }).textContent()).to.include(`authorization: Bearer ${shown}`)
    expect(await save(dialog), 'what is copied').to.equal(shown)
    expect(shown).to.match(/^sk-live-[0-9A-Za-z]{36}$/)
    secrets.push(shown)
  })

  it('creates a key that works in the official SDK', async () => {
    const { data, response } = await call(secrets[0]!)
    expect(data.choices[0]!.message.content).to.equal('Hello from far away.')
    requestId = response.headers.get('x-request-id')!
  })

  it('shows the call in the usage, and its details by its id', async () => {
    await member.getByRole('link', { name: 'Usage' }).click()
    await member.getByRole('table', { name: 'Usage by model' }).getByText('acme/smart').waitFor()
    await member.keyboard.press('Control+k')
    await member.getByLabel('Go to', { exact: true }).first().fill(requestId)
    await member.getByLabel('Go to', { exact: true }).first().press('Enter')
    const details = member.getByRole('dialog', { name: 'Request' })
    await details
      .getByText(/openai\/gpt-5\.5/)
      .first()
      .waitFor()
    await details.getByRole('link', { name: 'shop' }).waitFor()
    await recorder.recordPage(member, 'the look-up')
    await member.keyboard.press('Escape')
  })

  it('rotates the key: the old secret stays valid', async () => {
    await member.getByRole('link', { name: 'API keys' }).click()
    await member.getByRole('button', { name: 'Actions for shop' }).click()
    await member.getByRole('menuitem', { name: 'Rotate' }).click()
    const form = member.getByRole('dialog', { name: 'Rotate shop' })
    await form.getByLabel('Works for 1 more hour').check()
    await form.getByRole('button', { name: 'Rotate key' }).click()
    secrets.push(await save(member.getByRole('dialog', { name: 'Save your key' })))
    expect(secrets[1]).to.not.equal(secrets[0])
    await call(secrets[0]!)
    await call(secrets[1]!)
  })

  it('refuses the old secret after its overlap', async () => {
    const { db } = fixture.gateway.store
    // The hour passes.
    await db.updateTable('keys').set({ expires_at: Date.now() }).where('replaced_by', 'is not', null).execute()
    await refused(secrets[0]!)
    await call(secrets[1]!)
  })

  it('revokes the key after its name is typed: its next call is refused', async () => {
    await member.reload()
    await member
      .getByRole('row', { name: /shop.*Active/ })
      .getByRole('button', { name: 'Actions for shop' })
      .click()
    await member.getByRole('menuitem', { name: 'Revoke' }).click()
    const dialog = member.getByRole('dialog', { name: 'Revoke shop' })
    await dialog.getByLabel('Type "shop" to confirm').fill('sho')
    expect(await dialog.getByRole('button', { name: 'Revoke key' }).isDisabled()).to.equal(true)
    await dialog.getByLabel('Type "shop" to confirm').fill('shop')
    await dialog.getByRole('button', { name: 'Revoke key' }).click()
    await member.getByRole('row', { name: /shop.*Revoked/ }).waitFor()
    const error = await call(secrets[1]!).catch((thrown) => thrown)
    expect(error).to.include({ status: 401, code: 'invalid_api_key' })
  })

  it('shows the admin all this in the audit trail', async () => {
    await admin.getByRole('link', { name: 'Audit' }).click()
    for (const action of [
      'user.create',
      'account.create',
      'invitation.create',
      'invitation.accept',
      'key.create',
      'key.rotate',
      'key.revoke',
    ])
      await admin.getByRole('cell', { name: action }).first().waitFor()
  })

  it('has sent each secret once: no later reply, page, URL, browser storage, log line or row contains it', async () => {
    await Promise.all([
      lookAround(member, {
        '/keys': 'Revoked',
        '/usage': 'acme/smart',
        '/requests': 'acme/smart',
        '/models': 'acme/smart',
        '/playground': 'Send a message',
        '/connect': 'Base URL',
        '/profile': 'Sign out everywhere',
      }),
      lookAround(admin, {
        '/keys': 'Revoked',
        '/requests': 'acme/smart',
        '/audit': 'key.revoke',
        '/config': 'in use since',
        '/accounts': 'Field team',
      }),
    ])
    await recorder.recordGateway(fixture.gateway)
    expect(await recorder.leaksOf('the first key', secrets[0]!)).to.deep.equal(['reply to POST /api/v1/keys'])
    expect(await recorder.leaksOf('the second key', secrets[1]!)).to.have.lengthOf(1)
    const token = new URL(invitation).hash.slice(1)
    const elsewhere = (await recorder.leaksOf('the invitation', token)).filter((where) => where !== 'address bar')
    expect(elsewhere).to.deep.equal(['reply to POST /api/v1/invitations'])
  })

  /** Opens pages, by path with a text that each shows when it is complete, and records them. */
  async function lookAround(page: Page, pages: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, shows] of Object.entries(pages)) {
      await page.goto(fixture.address(path))
      await page.getByText(shows).first().waitFor()
      await recorder.recordPage(page, path)
    }
  }

  /** Resolves when a key is refused: a change by another connection to the database is noticed within a second. */
  async function refused(secret: string): Promise<void> {
    for (;;) {
      const status = await call(secret).then(
        () => 200,
        (error) => error.status,
      )
      if (status === 401) return
      expect(status).to.equal(200)
    }
  }
})
