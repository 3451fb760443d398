import { expect } from 'chai'
import type { Page, Route } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { type Management, signInAsAdmin } from './management.ts'

const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth'
/** Of the clock of a page, until it has given up all retries. */
const MOST_SECONDS = 300
const PHONE = { width: 390, height: 844 }

/** Pages that read from the gateway, with a text that each shows then. */
const PAGES: Readonly<Record<string, string>> = {
  '/keys': 'nightly',
  '/models': 'acme/smart',
  '/usage': 'No usage in this time range',
  '/requests': 'No calls in this time range',
  '/accounts': 'default',
  '/accounts?tab=users': 'ada@example.com',
  '/accounts?tab=invitations': 'No open invitations',
  '/routes': 'acme/smart',
  '/config': 'in use since',
  '/audit': 'user.create',
  '/api': 'List calls',
}

/** What an empty list says: wrong as long as nothing was read. */
const SAYS_EMPTY = /^No (?:API keys|models|usage|calls|accounts|users|open|entries|matching)/

describeInBrowser('a page of the console whose gateway', (open) => {
  let fixture: ConsoleFixture
  let page: Page
  let admin: Management

  before(async () => {
    fixture = await startConsole()
    page = await open({ reducedMotion: 'reduce' })
    admin = await signInAsAdmin(page, fixture)
    // Retries wait for seconds.
    await page.clock.install()
    await page.setViewportSize(PHONE)
  })

  after(() => fixture?.stop())

  /** Answers all that a page reads, but not who is signed in. */
  const answer = (act: (route: Route) => Promise<void>) =>
    page.route(/\/api\/v1\/(?!session)/, (route) => (route.request().method() === 'GET' ? act(route) : route.continue()))

  /** Lets time pass until a text is shown. */
  async function until(text: string | RegExp): Promise<void> {
    const shown = page.getByText(text).filter({ visible: true }).first()
    for (let second = 0; second < MOST_SECONDS && !(await shown.isVisible()); second++) await page.clock.runFor(1000)
    await shown.waitFor()
  }

  for (const [path, shows] of Object.entries(PAGES))
    it(`is slow, then gone, then back waits, says so, and goes on by its button (${path})`, async () => {
      const { promise: slow, resolve: end } = Promise.withResolvers<void>()
      await answer(async (route) => {
        await slow
        await route.abort()
      })
      await page.goto(fixture.address(path))
      await page.getByRole('heading', { level: 1 }).waitFor()
      expect(await page.getByText(SAYS_EMPTY).count(), 'says that nothing is there before it was read').to.equal(0)
      expect(await page.getByRole('alert').count()).to.equal(0)
      expect(await page.evaluate(TOO_WIDE), 'pixels too wide').to.be.at.most(0)
      end()
      await until('The gateway cannot be reached.')
      expect(await page.evaluate(TOO_WIDE), 'pixels too wide').to.be.at.most(0)
      await page.unrouteAll()
      await page.getByRole('button', { name: 'Try again' }).first().click()
      await until(shows)
      expect(await page.getByRole('alert').count()).to.equal(0)
    })

  it('was changed by somebody else shows the change by itself', async () => {
    await page.goto(fixture.address('/accounts'))
    await until('default')
    await admin.post('/accounts', { name: 'made elsewhere', models: ['*'] })
    await until('made elsewhere')
    await page.goto(fixture.address('/accounts?tab=invitations'))
    await until('No open invitations')
    await admin.post('/invitations', { email: 'elsewhere@example.com', role: 'member', account_id: 'default' })
    await until('elsewhere@example.com')
  })

  // C10
  it('has a locked database keeps the form, with its buttons in the window', async () => {
    await page.goto(fixture.address('/keys?new=1'))
    const form = page.getByRole('dialog', { name: 'Create an API key' })
    await form.getByRole('textbox', { name: 'Name' }).fill('kept')
    await page.route('**/api/v1/keys', (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The database is locked.', code: 'storage_busy' } } }),
    )
    await form.getByRole('textbox', { name: 'Name' }).press('Enter')
    await form.getByText('The database is locked.').waitFor()
    expect(await form.getByRole('textbox', { name: 'Name' }).inputValue()).to.equal('kept')
    const { y, height } = (await form.getByRole('button', { name: 'Create key' }).boundingBox())!
    expect(y + height, 'the end of the button').to.be.at.most(PHONE.height)
    await page.unrouteAll()
    await form.getByRole('button', { name: 'Create key' }).click()
    await page.getByRole('dialog', { name: 'Save your key' }).getByText('kept').waitFor()
  })
})
