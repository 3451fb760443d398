import { setImmediate } from 'node:timers/promises'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { clippedControls } from './clipped.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { Management, signInAsAdmin } from './management.ts'
import { fillLists, fillTable, MANY } from './many-rows.ts'

const MEMBER = { name: 'Newcomer', email: 'new@example.com', password: 'a staple is not a horse' }
const ADMIN = { email: 'ada@example.com', password: 'correct horse battery' }

const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth'
/** The width of the widest filter, in pixels. */
const LARGEST_FILTER = `Math.max(0, ...[...document.querySelectorAll('search > *')].map((filter) => filter.getBoundingClientRect().width))`

/** The mean width of a character of each line of code, in pixels. */
const WIDTHS_OF_CHARACTERS = `[...document.querySelectorAll('li code')].filter(({ textContent }) => textContent.trim() !== '').map((code) => {
  const range = document.createRange()
  range.selectNodeContents(code)
  return range.getBoundingClientRect().width / code.textContent.length
})`

/** More rows are shown by a button. */
const MOST_ROWS = 101

const WINDOWS = [
  { width: 1440, height: 900 },
  { width: 768, height: 1024 },
  { width: 390, height: 844 },
]

/** The lists of a member whose account has nothing, and lists of an admin in which nothing fits. */
const EMPTY = [
  { who: 'member', path: '/keys', shows: 'No API keys yet' },
  { who: 'member', path: '/models', shows: 'No models yet' },
  { who: 'member', path: '/usage', shows: 'No usage in this time range' },
  { who: 'member', path: '/requests', shows: 'No calls in this time range' },
  { who: 'admin', path: '/accounts?q=nobody', shows: 'No matching accounts' },
  { who: 'admin', path: '/accounts?tab=users&q=nobody', shows: 'No matching users' },
  { who: 'admin', path: '/accounts?tab=invitations', shows: 'No open invitations' },
  { who: 'admin', path: '/accounts?tab=invitations&q=nobody', shows: 'No matching invitations' },
  { who: 'admin', path: '/routes?q=nothing', shows: 'No matching routes' },
  { who: 'admin', path: '/models?q=nothing', shows: 'No model matches' },
  { who: 'admin', path: '/audit?action=nothing', shows: 'No matching entries' },
] as const

const FULL = [
  { path: '/keys', shows: 'A service with a name' },
  { path: '/models', shows: 'openai/model-1' },
  { path: '/usage?group=key', shows: 'All others' },
  { path: '/requests', shows: 'acme/fast' },
  { path: '/accounts', shows: 'A customer with a name' },
  { path: '/accounts?tab=users', shows: '@example.com' },
  { path: '/accounts?tab=invitations', shows: '@example.com' },
  { path: '/audit', shows: 'A service with a name' },
] as const

/** Pages that are no lists of rows, with what each shows of ten thousand. */
const LARGE = [
  { path: '/routes', shows: 'acme/route-1', most: 'section' },
  { path: '/config', shows: 'in use since', most: 'main li' },
  { path: '/connect', shows: 'Base URL', most: '[role="option"]' },
  { path: '/playground', shows: 'Send a message', most: '[role="option"]' },
] as const

describeInBrowser('each list of the console', (open) => {
  let fixture: ConsoleFixture
  let admin: Page
  let member: Page

  before(async () => {
    fixture = await startConsole({ models: Array.from({ length: MANY }, (_, index) => `model-${index}`) })
    admin = await open({ reducedMotion: 'reduce' })
    member = await open({ reducedMotion: 'reduce' })
    const management = await signInAsAdmin(admin, fixture)
    const account = await management.post<{ id: string }>('/accounts', { name: 'Nothing', models: ['nothing/*'] })
    const { link } = await management.post<{ link: string }>('/invitations', {
      email: MEMBER.email,
      role: 'member',
      account_id: account.id,
    })
    const answer = { token: new URL(link).hash.slice(1), name: MEMBER.name, password: MEMBER.password }
    await new Management(member, fixture).post('/invitations/accept', answer)
  })

  after(() => fixture?.stop())

  async function expectGoodLooks(page: Page): Promise<void> {
    for (const window of WINDOWS) {
      await page.setViewportSize(window)
      expect(await page.evaluate(TOO_WIDE), `pixels too wide for ${window.width}`).to.be.at.most(0)
      expect(await page.evaluate(LARGEST_FILTER), 'a filter').to.be.at.most(Math.max(340, window.width - 32))
      expect(await clippedControls(page), `not in a window of ${window.width}`).to.deep.equal([])
    }
    await page.emulateMedia({ colorScheme: 'dark' })
    expect(await accessibilityViolations(page, 'all'), 'dark, on a phone').to.deep.equal([])
    await page.setViewportSize(WINDOWS[0]!)
    await page.emulateMedia({ colorScheme: 'light' })
    expect(await accessibilityViolations(page, 'all'), 'light').to.deep.equal([])
  }

  for (const { who, path, shows } of EMPTY)
    it(`(${path}) says what to do if it is empty`, async () => {
      const page = who === 'admin' ? admin : member
      await page.goto(fixture.address(path))
      await page.getByText(shows).waitFor()
      expect(await page.getByRole('table').count()).to.equal(0)
      await expectGoodLooks(page)
    })

  describe(`with ${MANY} rows of names as long as they may be`, () => {
    before(async () => {
      await new Management(admin, fixture).post('/invitations', { email: 'a@example.com', role: 'member', account_id: 'default' })
      await fixture.gateway.fetch('/v1/chat/completions', {
        json: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] },
      })
      const { db } = fixture.gateway.store
      while ((await db.selectFrom('usage').select('name').execute()).length === 0) await setImmediate()
      await fillLists(fixture.gateway.store)
    })

    // C4
    for (const { path, shows } of FULL)
      it(`(${path}) shows a part of them, in every window`, async () => {
        await admin.goto(fixture.address(path))
        await admin.getByText(shows).first().waitFor()
        expect(await admin.locator('tbody tr').count()).to.be.within(2, MOST_ROWS)
        await expectGoodLooks(admin)
      })

    it('finds an invitation by a part of the e-mail address', async () => {
      await admin.goto(fixture.address('/accounts?tab=invitations'))
      await admin.getByRole('searchbox', { name: 'Search invitations' }).fill('guest9876@')
      await admin.getByRole('row', { name: /guest9876@example\.com/ }).waitFor()
      await admin.getByText('guest9875@example.com').waitFor({ state: 'detached' })
      expect(await admin.locator('tbody tr').count()).to.equal(1)
    })

    it('shows more rows by keyboard, and keeps the focus', async () => {
      await admin.goto(fixture.address('/keys'))
      await admin.getByText(`${(MANY + 3).toLocaleString('en')} keys`, { exact: true }).waitFor()
      const rows = admin.locator('tbody tr')
      const before = await rows.count()
      await admin.getByRole('button', { name: 'Show more' }).focus()
      await admin.keyboard.press('Enter')
      await rows.nth(before).waitFor()
      await admin.locator('button:focus', { hasText: 'Show more' }).waitFor()
    })

    it('finds a person by a part of the e-mail address', async () => {
      await admin.goto(fixture.address('/accounts?tab=users'))
      await admin.getByRole('searchbox', { name: 'Search users' }).fill('person9876@')
      await admin.getByRole('row', { name: /person9876@example\.com/ }).waitFor()
      await admin.getByText('person9875@example.com').waitFor({ state: 'detached' })
      expect(await admin.locator('tbody tr').count()).to.equal(1)
    })

    // C7
    for (const timezoneId of ['Australia/Adelaide', 'America/Los_Angeles'])
      it(`has days and times of ${timezoneId} for a reader there`, async () => {
        const page = await open({ timezoneId, reducedMotion: 'reduce' })
        await new Management(page, fixture).post('/session', ADMIN)
        await page.goto(fixture.address('/usage?range=7d'))
        await page.getByText(`Times are those of ${timezoneId}.`).waitFor()
        const chart = page.getByRole('img', { name: /^Requests per day/ })
        const { x, y, width, height } = (await chart.boundingBox())!
        const today = new Date().toLocaleDateString('en', {
          weekday: 'short',
          month: 'short',
          day: 'numeric',
          timeZone: timezoneId,
        })
        // Usage that arrives draws the chart anew, and closes what a movement has opened.
        for (let step = 0; !(await chart.getByText(today, { exact: true }).isVisible()); step = 1 - step)
          await page.mouse.move(x + width - 30 - step, y + height / 2)
        expect(await page.getByRole('link', { name: 'CSV' }).getAttribute('href')).to.include(
          `time_zone=${encodeURIComponent(timezoneId)}`,
        )
        await page.goto(fixture.address('/requests'))
        await page
          .getByRole('row', { name: /acme\/fast/ })
          .first()
          .getByRole('link')
          .click()
        const zone = new Intl.DateTimeFormat('en', { timeZone: timezoneId, timeZoneName: 'short' })
          .formatToParts(new Date())
          .find(({ type }) => type === 'timeZoneName')!.value
        await page.getByRole('dialog', { name: 'Request' }).getByText(zone).waitFor()
        await page.context().close()
      })

    describe('and as many routes and aliases', () => {
      before(() => fillTable(fixture.gateway))

      for (const { path, shows, most } of LARGE)
        it(`(${path}) makes elements of a part of them, in every window`, async () => {
          await admin.goto(fixture.address(path))
          await admin.getByText(shows).first().waitFor()
          expect(await admin.locator(most).count()).to.be.below(1000)
          await expectGoodLooks(admin)
        })

      it('finds a route by a part of its name, and shows more of all', async () => {
        await admin.goto(fixture.address('/routes'))
        const lanes = admin.locator('section')
        await lanes.nth(99).waitFor()
        await admin.getByRole('button', { name: 'Show more' }).click()
        await lanes.nth(199).waitFor()
        await admin.getByRole('searchbox', { name: 'Search models and targets' }).fill('route-9876')
        await admin.getByRole('region', { name: 'acme/route-9876' }).getByText('alias-9876').waitFor()
        await lanes.nth(1).waitFor({ state: 'detached' })
      })

      it('opens the last line of a long routes.yaml, in its colours', async () => {
        const { text } = await (await admin.request.get(`${fixture.gateway.adminUrl}/api/v1/config`)).json()
        const last = text.trimEnd().split('\n').length
        await admin.goto(fixture.address(`/config?line=${last}`))
        await admin.locator(`li[data-marked]`).filter({ hasText: 'alias-9999' }).locator('span[class]').first().waitFor()
        const { y } = (await admin.locator('li[data-marked]').boundingBox())!
        expect(y, 'its place in the window').to.be.within(0, 900)
        const widths = await admin.evaluate<number[]>(WIDTHS_OF_CHARACTERS)
        expect(Math.max(...widths) - Math.min(...widths), 'pixels between narrow and wide characters').to.be.below(0.5)
      })
    })
  })
})
