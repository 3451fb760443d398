import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { Management, MEMBER, signInAsAdmin, signInAsMember } from './management.ts'

describeInBrowser('signing in and out of the console', (open) => {
  let fixture: ConsoleFixture
  let admin: Management
  let page: Page

  before(async () => {
    fixture = await startConsole()
    page = await open()
    admin = await signInAsAdmin(await open(), fixture)
    await signInAsMember(admin, page, fixture)
  })

  after(() => fixture?.stop())

  const leave = () => page.context().clearCookies()

  async function signIn(password = MEMBER.password): Promise<void> {
    await page.getByRole('textbox', { name: 'E-mail' }).fill(MEMBER.email)
    await page.getByRole('textbox', { name: 'Password' }).fill(password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  it('leads to the requested page with its filters', async () => {
    await leave()
    await page.goto(fixture.address('/requests?fault=upstream'))
    await signIn()
    await page.getByRole('heading', { name: 'Requests' }).waitFor()
    expect(page.url()).to.equal(fixture.address('/requests?fault=upstream'))
  })

  for (const next of ['//elsewhere.example/', 'https://elsewhere.example/', '/\\elsewhere.example'])
    it(`does not redirect to another site: ${next}`, async () => {
      await page.goto(fixture.address(`/sign-in?next=${encodeURIComponent(next)}`))
      await page.getByRole('heading', { name: 'API keys' }).waitFor()
      expect(page.url()).to.equal(fixture.address('/keys'))
    })

  it('shows an error with its request id', async () => {
    await leave()
    await page.goto(fixture.address('/sign-in'))
    await signIn('not the password')
    const alert = page.getByRole('alert')
    await alert.getByText('The e-mail address or the password is wrong.').waitFor()
    expect(await alert.textContent()).to.match(/Request req_[0-9a-f]{32}/)
  })

  // C5
  it('asks to sign in again after the session has ended, above the page', async () => {
    await page.goto(fixture.address('/keys'))
    await signIn()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
    await fixture.gateway.store.db.deleteFrom('sessions').execute()
    await page.getByRole('link', { name: 'Models' }).click()
    await page.getByRole('dialog', { name: 'Your session has expired' }).waitFor()
    await page.getByRole('textbox', { name: 'Password' }).fill(MEMBER.password)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('cell', { name: 'acme/smart' }).first().waitFor()
    expect(new URL(page.url()).pathname).to.equal('/console/models')
  })

  it('begins anew for another user, who signs in on another page after the session has ended', async () => {
    await page.goto(fixture.address('/keys?new=1'))
    const name = page.getByRole('dialog', { name: 'Create an API key' }).getByRole('textbox', { name: 'Name' })
    await name.fill('of the member')
    await fixture.gateway.store.db.deleteFrom('sessions').execute()
    await name.press('Enter')
    await page.getByRole('dialog', { name: 'Your session has expired' }).waitFor()
    await new Management(page, fixture).post('/session', { email: 'ada@example.com', password: 'correct horse battery' })
    await page.evaluate('window.dispatchEvent(new Event("focus"))')
    await page.getByText('Ada Byron').waitFor({ state: 'attached' })
    await page.waitForFunction('document.readyState === "complete"')
    await page.getByRole('dialog', { name: 'Your session has expired' }).waitFor({ state: 'detached' })
    await name.and(page.locator('[value=""]')).waitFor()
    await fixture.gateway.store.db.deleteFrom('sessions').execute()
    await page.goto(fixture.address('/keys'))
    await signIn()
    await page.getByRole('heading', { name: 'API keys' }).waitFor()
  })

  it('changes the password', async () => {
    await page.goto(fixture.address('/profile'))
    await page.getByRole('textbox', { name: 'Current password' }).fill('not the password')
    await page.getByRole('textbox', { name: 'New password' }).fill('another staple entirely')
    await page.getByRole('button', { name: 'Change password' }).click()
    const current = page.getByRole('textbox', { name: 'Current password' })
    const refusal = page.getByText('This is not your current password.')
    await refusal.waitFor()
    expect(await current.getAttribute('aria-describedby'), 'said at the field').to.equal(await refusal.getAttribute('id'))
    expect(await page.getByRole('alert').count()).to.equal(0)
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await accessibilityViolations(page, 'colors'), colorScheme).to.deep.equal([])
    }
    await current.fill(MEMBER.password)
    await page.getByRole('button', { name: 'Change password' }).click()
    await page.getByText('Password changed.').waitFor()
  })

  it('ends every session at once', async () => {
    await page.getByRole('button', { name: 'Sign out everywhere' }).click()
    await page.getByRole('dialog', { name: 'Sign out everywhere' }).getByText(MEMBER.email).waitFor()
    await page.getByRole('button', { name: 'Sign out', exact: true }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
    expect(await fixture.gateway.store.db.selectFrom('sessions').select('user_id').execute()).to.deep.equal([])
    await signIn('another staple entirely')
    await page.getByRole('heading', { name: 'Your profile' }).waitFor()
  })

  it('signs out from the menu', async () => {
    await page.getByRole('button', { name: /Mo Tester/ }).click()
    await page.getByRole('menuitem', { name: 'Sign out' }).click()
    await page.getByRole('heading', { name: 'Sign in' }).waitFor()
  })

  it('shows that a setup link is needed while there are no users', async () => {
    const empty = await startConsole()
    await page.goto(empty.address('/'))
    await page.getByText('There are no users yet').waitFor()
    expect(await page.getByRole('button', { name: 'Sign in' }).count()).to.equal(0)
    await empty.stop()
  })

  it('shows why a sign-in by the OpenID provider failed', async () => {
    await leave()
    await page.goto(fixture.address('/sign-in?error=openid_refused'))
    await page.getByRole('alert').getByText('ask an admin for an invitation').waitFor()
  })
})
