import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { type Issuer, startIssuer } from '../support/openid-issuer.ts'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { type Management, signInAsAdmin } from './management.ts'

const EMAIL = 'oli@example.com'

describeInBrowser('an admin without a password, who signs in by the OpenID provider', (open) => {
  let issuer: Issuer
  let fixture: ConsoleFixture
  let admin: Management
  let page: Page

  before(async () => {
    issuer = await startIssuer()
    fixture = await startConsole({ openid: issuer.openid })
    issuer.redirectTo(`${fixture.gateway.adminUrl}/api/v1/oidc/callback`)
    issuer.people.set('oli', { email: EMAIL, email_verified: true, name: 'Oli' })
    admin = await signInAsAdmin(await open(), fixture)
    await admin.post('/invitations', { email: EMAIL, role: 'admin', account_id: 'default' })
    page = await open({ extraHTTPHeaders: { 'x-client': 'oli' }, reducedMotion: 'reduce' })
    await page.goto(fixture.address('/'))
    await page.getByRole('link', { name: 'Continue with Example' }).click()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
  })

  after(async () => {
    await fixture?.stop()
    await issuer?.stop()
  })

  const dialog = (name: string) => page.getByRole('dialog', { name })

  /** Signs in at the provider in the tab that the link of a dialog opens, and comes back. */
  async function signInElsewhere(question: string): Promise<void> {
    const link = dialog(question).getByRole('link', { name: 'Continue with Example, in a new tab' })
    expect(await link.getAttribute('target')).to.equal('_blank')
    const [tab] = await Promise.all([page.context().waitForEvent('page'), link.click()])
    await tab.getByRole('heading', { name: 'API keys' }).waitFor()
    await tab.close()
    await page.bringToFront()
    // A browser without windows does not say by itself that the tab is in front again.
    await page.evaluate('window.dispatchEvent(new Event("focus"))')
    await dialog(question).waitFor({ state: 'detached' })
  }

  it('confirms a change that gives rights there, in a new tab, and finds the form as it was', async () => {
    await page.goto(fixture.address('/accounts?tab=invitations&new=1'))
    await dialog('Invite a user').getByRole('textbox', { name: 'E-mail' }).fill('cy@example.com')
    await fixture.gateway.store.db
      .updateTable('sessions')
      .set({ confirmed_at: Date.now() - 15 * 60_000 })
      .execute()
    await dialog('Invite a user').getByRole('textbox', { name: 'E-mail' }).press('Enter')
    const question = dialog('Confirm that it is you')
    await question.getByText(EMAIL).waitFor()
    expect(await question.locator('input[type="password"]').count(), 'a field for a password that does not exist').to.equal(0)
    expect(await accessibilityViolations(page, 'all')).to.deep.equal([])
    await signInElsewhere('Confirm that it is you')
    await dialog('Send this link').getByText('cy@example.com').waitFor()
    await dialog('Send this link').getByRole('button', { name: 'Done' }).click()
  })

  it('signs in again there after the session has expired, and finds the form as it was', async () => {
    await page.goto(fixture.address('/keys?new=1'))
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).fill('kept')
    const { db } = fixture.gateway.store
    await db.deleteFrom('sessions').execute()
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).press('Enter')
    await dialog('Your session has expired').getByText(EMAIL).waitFor()
    expect(await page.locator('input[type="password"]').count()).to.equal(0)
    await signInElsewhere('Your session has expired')
    expect(await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).inputValue()).to.equal('kept')
    await dialog('Create an API key').getByRole('button', { name: 'Create key' }).click()
    await dialog('Save your key').getByText('kept').waitFor()
  })

  it('sees no form to change a password on the profile', async () => {
    const profile = await page.context().newPage()
    await profile.goto(fixture.address('/profile'))
    await profile.getByText('by the OpenID provider').waitFor()
    expect(await profile.getByRole('button', { name: 'Change password' }).count()).to.equal(0)
    await profile.close()
  })
})
