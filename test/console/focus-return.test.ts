import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { focused } from './focus.ts'
import { MEMBER, signInAsAdmin, signInAsMember } from './management.ts'

/** What opens over a page of the console. */
interface Overlay {
  readonly path: string
  /** The name of the button or link that opens it. */
  readonly from: string | RegExp
  /** The item of the menu that `from` opens. */
  readonly item?: string
  /** Its role and its name. */
  readonly opens: readonly ['dialog' | 'menu', string?]
  /** Whether it has a button to cancel. */
  readonly cancel?: true
  /** The name of what has the focus after it. Default: `from`. */
  readonly back?: string
}

const ROW = `Actions for ${MEMBER.name}`

/** Those that are closed without a change. */
const OVERLAYS: readonly Overlay[] = [
  { path: '/keys', from: /Ada Byron/, opens: ['menu'], back: 'ABAda Byrondefault · admin' },
  { path: '/keys', from: /^Jump to/, opens: ['dialog', 'Jump to a page'], back: 'Jump to…Ctrl K' },
  { path: '/keys', from: 'Create key', opens: ['dialog', 'Create an API key'], cancel: true },
  { path: '/keys', from: 'Actions for batch', opens: ['menu'] },
  { path: '/keys', from: 'Actions for batch', item: 'Edit', opens: ['dialog', 'Edit batch'], cancel: true },
  { path: '/keys', from: 'Actions for batch', item: 'Rotate', opens: ['dialog', 'Rotate batch'], cancel: true },
  { path: '/keys', from: 'Actions for batch', item: 'Revoke', opens: ['dialog', 'Revoke batch'], cancel: true },
  { path: '/requests', from: 'Export', opens: ['menu'] },
  { path: '/requests', from: /^req_/, opens: ['dialog', 'Request'] },
  { path: '/accounts', from: 'Create account', opens: ['dialog', 'Create an account'], cancel: true },
  { path: '/accounts', from: 'Edit Field team', opens: ['dialog', 'Edit Field team'], cancel: true },
  { path: '/accounts?tab=users', from: 'Invite a user', opens: ['dialog', 'Invite a user'], cancel: true },
  { path: '/accounts?tab=users', from: ROW, opens: ['menu'] },
  { path: '/accounts?tab=users', from: ROW, item: 'Make an admin…', opens: ['dialog'], cancel: true },
  { path: '/accounts?tab=users', from: ROW, item: 'Sign out everywhere…', opens: ['dialog'], cancel: true },
  { path: '/accounts?tab=users', from: ROW, item: 'Disable…', opens: ['dialog'], cancel: true },
  { path: '/accounts?tab=invitations', from: 'Invite a user', opens: ['dialog', 'Invite a user'], cancel: true },
  {
    path: '/accounts?tab=invitations',
    from: 'Withdraw the invitation for lin@example.com',
    opens: ['dialog', 'Withdraw an invitation'],
    cancel: true,
  },
  { path: '/profile', from: 'Sign out everywhere', opens: ['dialog', 'Sign out everywhere'], cancel: true },
]

describeInBrowser('the focus', (open) => {
  let fixture: ConsoleFixture
  let page: Page

  before(async () => {
    fixture = await startConsole()
    page = await open({ reducedMotion: 'reduce' })
    const admin = await signInAsAdmin(page, fixture)
    await signInAsMember(admin, await open(), fixture)
    await admin.post('/accounts', { name: 'Field team', models: ['*'] })
    await admin.post('/keys', { name: 'batch', kind: 'live' })
    await admin.post('/invitations', { email: 'lin@example.com', role: 'member', account_id: 'default' })
    const response = await fixture.gateway.fetch('/v1/chat/completions', {
      json: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
    })
    await fixture.gateway.logged((line) => line.id === response.headers.get('x-request-id'))
  })

  after(() => fixture?.stop())

  const opener = (from: string | RegExp): Locator =>
    page
      .getByRole('button', { name: from, exact: true })
      .or(page.getByRole('link', { name: from }))
      .first()

  const dialog = (name: string) => page.getByRole('dialog', { name })

  /** Waits until nothing is open over the page. */
  const closed = () => page.locator('[role="dialog"], [role="menu"]').first().waitFor({ state: 'detached' })

  /** Waits until the page itself has the focus. */
  const onPage = () => page.locator('#page:focus').waitFor()

  for (const { path, from, item, opens, cancel, back = String(from) } of OVERLAYS)
    it(`returns from ${opens[1] ?? opens[0]} (${path}, ${item ?? from}) to what opened it`, async () => {
      const ways = [() => page.keyboard.press('Escape'), ...(cancel ? [() => press('Cancel'), () => press('Close')] : [])]
      for (const leave of ways) {
        await visit(path)
        await opener(from).focus()
        const expected = from instanceof RegExp && path === '/requests' ? await focused(page) : back
        await page.keyboard.press('Enter')
        if (item !== undefined) await choose(item)
        await page.getByRole(opens[0], opens[1] === undefined ? {} : { name: opens[1] }).waitFor()
        // It takes the focus some time after it opens.
        await page.locator(`[role="${opens[0]}"]:focus-within`).waitFor()
        await leave()
        await closed()
        expect(await focused(page)).to.equal(expected)
      }
    })

  it('returns after a change that the overlay has made to what opened it, or to the page if that is gone', async () => {
    await visit('/accounts')
    await opener('Edit Field team').press('Enter')
    await dialog('Edit Field team').getByRole('button', { name: 'Save' }).press('Enter')
    await closed()
    expect(await focused(page), 'after editing an account').to.equal('Edit Field team')

    await visit('/accounts?tab=users')
    await opener(ROW).press('Enter')
    await choose('Sign out everywhere…')
    await press('Sign out')
    await closed()
    expect(await focused(page), 'after signing a user out').to.equal(ROW)

    await visit('/accounts?tab=invitations')
    await opener('Invite a user').press('Enter')
    await dialog('Invite a user').getByRole('textbox', { name: 'E-mail' }).fill('kim@example.com')
    await dialog('Invite a user').getByRole('textbox', { name: 'E-mail' }).press('Enter')
    await dialog('Send this link').getByRole('button', { name: 'Done' }).press('Enter')
    await closed()
    expect(await focused(page), 'after inviting').to.equal('Invite a user')

    await opener('Withdraw the invitation for lin@example.com').press('Enter')
    await press('Withdraw')
    await onPage()
  })

  it('is on the page after a link, a menu or the list of pages has led to another one', async () => {
    await visit('/models')
    await page.getByRole('link', { name: 'Try acme/smart in the playground' }).press('Enter')
    await page.getByRole('heading', { name: 'Playground' }).waitFor()
    await onPage()

    await visit('/models')
    await page.getByRole('searchbox').focus()
    await page.keyboard.press('Control+k')
    await page.locator('[aria-label="Go to"]:focus').waitFor()
    await page.keyboard.type('audit')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
    await onPage()
  })

  it('is in the details of a call that a link opens, and then on the page', async () => {
    await visit('/requests')
    const path = await page.getByRole('link', { name: /^req_/ }).getAttribute('href')
    await page.goto(new URL(path!, fixture.address('/')).href)
    await page.locator('[role="dialog"]:focus-within').waitFor()
    await page.keyboard.press('Escape')
    await onPage()
  })

  it('goes from the navigation of a phone to the page that was chosen', async () => {
    await page.setViewportSize({ width: 390, height: 844 })
    await visit('/models')
    expect(await page.getByRole('link', { name: 'Usage' }).isVisible(), 'the closed navigation').to.equal(false)
    await page.getByRole('button', { name: 'Open navigation' }).press('Enter')
    await page.getByRole('link', { name: 'Usage' }).press('Enter')
    await page.getByRole('heading', { name: 'Usage' }).waitFor()
    await onPage()
    await page.setViewportSize({ width: 1440, height: 900 })
  })

  it('goes back to where it was when a message is closed, or a button removes itself', async () => {
    await visit('/accounts?tab=users')
    await opener(ROW).press('Enter')
    await choose('Sign out everywhere…')
    await press('Sign out')
    await closed()
    await page.getByRole('button', { name: 'Close the message' }).press('Enter')
    await page.locator(`[aria-label="${ROW}"]:focus`).waitFor()

    await visit('/keys')
    await page.getByRole('checkbox', { name: /^Choose batch/ }).focus()
    await page.keyboard.press('Space')
    await page.getByRole('button', { name: 'Choose none' }).press('Enter')
    await page.locator('[aria-label^="Choose batch"]:focus').waitFor()
  })

  it('is where it was after the session has expired, and its user has signed in again', async () => {
    await visit('/keys')
    await opener('Create key').press('Enter')
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).fill('kept')
    await fixture.gateway.store.db.deleteFrom('sessions').execute()
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).press('Enter')
    await dialog('Your session has expired').getByRole('textbox', { name: 'Password' }).fill('correct horse battery')
    await dialog('Your session has expired').getByRole('textbox', { name: 'Password' }).press('Enter')
    await dialog('Your session has expired').waitFor({ state: 'detached' })
    await dialog('Create an API key').locator(':focus').waitFor()
    expect(await focused(page)).to.equal('Name')
  })

  async function visit(path: string): Promise<void> {
    if (page.url() !== fixture.address(path)) await page.goto(fixture.address(path))
  }

  /** Of the open menu, which takes the focus some time after it opens. */
  async function choose(item: string): Promise<void> {
    await page.locator('[role="menu"]:focus-within').waitFor()
    await page.getByRole('menuitem', { name: item }).press('Enter')
  }

  const press = (button: string) => page.getByRole('dialog').getByRole('button', { name: button, exact: true }).press('Enter')
})
