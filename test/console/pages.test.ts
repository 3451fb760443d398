import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { clippedControls } from './clipped.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { signInAsAdmin, signInAsMember } from './management.ts'
import { type ConsolePage, ENTRANCES, PAGES } from './pages.ts'
import { seed } from './seed.ts'
import { beyondTab } from './tab-stops.ts'

/** The folder for screenshots of each page. They are a third of the time of these tests. */
const SCREENSHOTS = process.env.UMG_TEST_SCREENSHOTS

const DESKTOP = { width: 1440, height: 900 }
const TABLET = { width: 768, height: 1024 }
const PHONE = { width: 390, height: 844 }
const TOO_WIDE = 'document.documentElement.scrollWidth - innerWidth'

/** Expected messages: not signed in, and an invalid link. */
const IS_REFUSAL = /status of 4(?:01|10)/

describeInBrowser('each page of the console', (open) => {
  let fixture: ConsoleFixture
  let admin: Page
  let stranger: Page
  /** Errors of the browser. */
  const errors: string[] = []

  before(async () => {
    if (SCREENSHOTS) mkdirSync(SCREENSHOTS, { recursive: true })
    fixture = await startConsole()
    stranger = await open({ reducedMotion: 'reduce' })
    admin = await open({ reducedMotion: 'reduce' })
    for (const page of [stranger, admin]) {
      // The page asks before it is left with an unsaved secret.
      page.on('dialog', (dialog) => dialog.accept())
      page.on('pageerror', ({ message }) => errors.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error' && !IS_REFUSAL.test(message.text())) errors.push(message.text())
      })
    }
    const management = await signInAsAdmin(admin, fixture)
    await signInAsMember(management, await open(), fixture)
    await seed(fixture, management)
  })

  after(() => fixture?.stop())

  for (const shown of [...ENTRANCES, ...PAGES])
    it(`(${shown.name}) is accessible in light and dark, reachable by keyboard, and fits a tablet and a phone`, async () => {
      const page = ENTRANCES.includes(shown) ? stranger : admin
      await visit(page, shown)
      await show(page, shown, 'light')
      expect(await accessibilityViolations(page, 'all'), 'light').to.deep.equal([])
      await show(page, shown, 'dark')
      // C4
      for (const [name, window] of Object.entries({ tablet: TABLET, phone: PHONE })) {
        await page.setViewportSize(window)
        expect(await page.evaluate(TOO_WIDE), `pixels too wide for a ${name}`).to.be.at.most(0)
        expect(await clippedControls(page), `not in the window of a ${name}`).to.deep.equal([])
        await show(page, shown, 'dark')
      }
      expect(await accessibilityViolations(page, 'all'), 'dark, on a phone').to.deep.equal([])
      await show(page, shown, 'light')
      await page.setViewportSize(DESKTOP)
      expect(await beyondTab(page), 'not reached by Tab').to.deep.equal([])
      expect(errors.splice(0)).to.deep.equal([])
    })

  async function visit(page: Page, { path, shows, prepare }: ConsolePage): Promise<void> {
    await page.setViewportSize(DESKTOP)
    await page.emulateMedia({ colorScheme: 'light' })
    // Otherwise a URL that differs only in its fragment would not be loaded.
    await page.goto('about:blank')
    await page.goto(fixture.address(path))
    await page.getByText(shows).first().waitFor()
    await prepare?.(page)
  }

  async function show(page: Page, { name }: ConsolePage, colorScheme: 'light' | 'dark'): Promise<void> {
    await page.emulateMedia({ colorScheme })
    if (!SCREENSHOTS) return
    const { width } = page.viewportSize()!
    await page.screenshot({ path: join(SCREENSHOTS, `${name}-${width}-${colorScheme}.png`) })
  }
})
