import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { signInAsAdmin } from './management.ts'

const PASSWORD = 'correct horse battery'

describeInBrowser('a change that gives rights, a while after the sign-in', (open) => {
  let fixture: ConsoleFixture
  let page: Page

  before(async () => {
    fixture = await startConsole()
    page = await open()
    await signInAsAdmin(page, fixture)
  })

  beforeEach(async () => {
    await page.goto(fixture.address('/accounts?tab=invitations'))
    await page.getByRole('button', { name: 'Invite', exact: false }).first().waitFor()
    // A quarter of an hour passes.
    await fixture.gateway.store.db
      .updateTable('sessions')
      .set({ confirmed_at: Date.now() - 15 * 60_000 })
      .execute()
  })

  after(() => fixture?.stop())

  const question = () => page.getByRole('dialog', { name: 'Confirm that it is you' })

  /** Fills in an invitation, and submits it by the keyboard. */
  async function invite(email: string): Promise<void> {
    await page
      .getByRole('button', { name: /^Invite/ })
      .first()
      .click()
    const dialog = page.getByRole('dialog', { name: 'Invite a user' })
    await dialog.getByRole('textbox', { name: 'E-mail' }).fill(email)
    await dialog.getByRole('textbox', { name: 'E-mail' }).press('Enter')
    await question().waitFor()
  }

  it('asks for the password, by keyboard alone, and is then made', async () => {
    await invite('cy@example.com')
    const password = question().getByRole('textbox', { name: 'Password' })
    await password.and(page.locator(':focus')).waitFor()
    await page.keyboard.type('not the password')
    await page.keyboard.press('Enter')
    await question().getByText('This is not your current password.').waitFor()
    await password.fill(PASSWORD)
    await password.press('Enter')
    await question().waitFor({ state: 'detached' })
    await page.getByRole('dialog', { name: 'Send this link' }).waitFor()
    const invited = fixture.gateway.store.db.selectFrom('invitations').select('email').where('email', '=', 'cy@example.com')
    expect(await invited.execute()).to.have.lengthOf(1)
  })

  it('asks for it in a dialog that anyone can use, in light and dark', async () => {
    await invite('dan@example.com')
    expect(await accessibilityViolations(page, 'all')).to.deep.equal([])
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' })
      expect(await accessibilityViolations(page, 'colors'), colorScheme).to.deep.equal([])
    }
  })

  it('is not made if the dialog is closed: its form is still there, says why, and has the focus', async () => {
    await invite('eve@example.com')
    await page.keyboard.press('Escape')
    await question().waitFor({ state: 'detached' })
    const dialog = page.getByRole('dialog', { name: 'Invite a user' })
    await dialog.getByRole('alert').getByText('This change needs your password again').waitFor()
    const email = dialog.getByRole('textbox', { name: 'E-mail' })
    expect(await email.inputValue()).to.equal('eve@example.com')
    await email.and(page.locator(':focus')).waitFor()
    await page.keyboard.press('Enter')
    await question().getByRole('textbox', { name: 'Password' }).fill(PASSWORD)
    await question().getByRole('textbox', { name: 'Password' }).press('Enter')
    await page.getByRole('dialog', { name: 'Send this link' }).waitFor()
  })
})
