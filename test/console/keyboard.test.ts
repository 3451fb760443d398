import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { signInAsAdmin } from './management.ts'

describeInBrowser('the console by keyboard', (open) => {
  let fixture: ConsoleFixture
  let page: Page

  before(async () => {
    fixture = await startConsole()
    page = await open()
    await signInAsAdmin(page, fixture)
  })

  after(() => fixture?.stop())

  it('skips the navigation by the first tab stop', async () => {
    await page.goto(fixture.address('/models'))
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.getAttribute("aria-label")')).to.equal('Search models')
  })

  it('jumps to a page by a part of its name', async () => {
    await jump()
    await page.keyboard.type('aud')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Audit' }).waitFor()
  })

  it('creates, edits and revokes a key', async () => {
    await jump()
    await page.keyboard.type('create')
    await page.keyboard.press('Enter')
    await fieldOf('Create an API key')
    await page.keyboard.type('typed')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog', { name: 'Save your key' }).waitFor()
    await page.getByLabel('I have saved this key').focus()
    await page.keyboard.press('Space')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByRole('dialog').waitFor({ state: 'hidden' })

    await choose('Edit')
    await page.keyboard.type('typed twice')
    await page.keyboard.press('Enter')
    await page.getByRole('cell', { name: 'typed twice' }).first().waitFor()

    await choose('Revoke')
    await page.keyboard.type('typed twice')
    await page.keyboard.press('Enter')
    await page.getByRole('row', { name: /typed twice.*Revoked/ }).waitFor()
  })

  /** Opens the jump list after every dialog is closed. */
  async function jump(): Promise<void> {
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    await page.keyboard.press('Control+k')
    await page.locator('[aria-label="Go to"]:focus').waitFor()
  }

  /** Opens an item of a row's menu, and selects the text of the first field of its dialog. */
  async function choose(item: string): Promise<void> {
    await page.getByRole('button', { name: /^Actions for typed/ }).focus()
    await page.keyboard.press('Enter')
    // The menu takes the focus some time after it opens.
    await page.locator('[role="menu"]:focus-within').waitFor()
    await page.getByRole('menuitem', { name: item }).focus()
    await page.keyboard.press('Enter')
    await fieldOf(`${item} typed`)
    await page.keyboard.press('Control+a')
  }

  /** Waits until a text field of a dialog has the focus, which begins on the dialog itself. */
  function fieldOf(dialog: string): Promise<void> {
    return page.getByRole('dialog', { name: dialog }).getByRole('textbox').and(page.locator(':focus')).waitFor()
  }
})
