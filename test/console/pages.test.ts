import { mkdirSync, readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { signInAsAdmin } from './management.ts'
import { type ConsolePage, ENTRANCES, PAGES } from './pages.ts'
import { seed } from './seed.ts'
import { type ConsoleStage, startConsole } from './stage.ts'

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SCREENSHOTS = join(import.meta.dirname, 'screenshots')

const WIDTHS = { 1440: { width: 1440, height: 900 }, 390: { width: 390, height: 844 } }
/** Being told that one is not signed in, or that a link was used, is no fault of the page. */
const IS_REFUSAL = /status of 4(?:01|10)/

const SCHEMES = ['light', 'dark'] as const

/** Rules of axe that a page breaks in a way that keeps people out, each with what breaks it. */
async function barriers(page: Page): Promise<string[]> {
  // Not in the page's own world of scripts: its content security policy would refuse it.
  await page.evaluate(AXE)
  const { violations } = await page.evaluate<{ violations: Violation[] }>('axe.run(document)')
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) => `${id}: ${html}\n${failureSummary}`))
}

interface Violation {
  readonly id: string
  readonly impact: string | null
  readonly nodes: readonly { readonly html: string; readonly failureSummary: string }[]
}

describeInBrowser('each page of the console', (open) => {
  let stage: ConsoleStage
  let admin: Page
  let stranger: Page
  /** What the browser found wrong. */
  const complaints: string[] = []

  before(async () => {
    mkdirSync(SCREENSHOTS, { recursive: true })
    stage = await startConsole()
    stranger = await open({ reducedMotion: 'reduce' })
    admin = await open({ reducedMotion: 'reduce' })
    for (const page of [stranger, admin]) {
      page.on('pageerror', ({ message }) => complaints.push(message))
      page.on('console', (message) => {
        if (message.type() === 'error' && !IS_REFUSAL.test(message.text())) complaints.push(message.text())
      })
    }
    const management = await signInAsAdmin(admin, stage)
    await seed(stage, management)
  })

  after(() => stage.stop())

  for (const shown of [...ENTRANCES, ...PAGES]) {
    it(`(${shown.name}) shuts nobody out, in light and dark, and fits a phone`, async () => {
      const page = ENTRANCES.includes(shown) ? stranger : admin
      for (const [width, viewport] of Object.entries(WIDTHS)) {
        await page.setViewportSize(viewport)
        await visit(page, shown)
        for (const colorScheme of SCHEMES) {
          await page.emulateMedia({ colorScheme })
          await page.screenshot({ path: join(SCREENSHOTS, `${shown.name}-${width}-${colorScheme}.png`) })
          if (width === '1440') expect(await barriers(page), colorScheme).to.deep.equal([])
        }
        expect(complaints.splice(0)).to.deep.equal([])
        expect(await page.evaluate('document.documentElement.scrollWidth - innerWidth'), 'pixels too wide').to.be.at.most(0)
      }
    })
  }

  async function visit(page: Page, { path, shows, prepare }: ConsolePage): Promise<void> {
    // Else an address that differs in its # only would be no visit.
    await page.goto('about:blank')
    await page.goto(stage.address(path))
    await page.getByText(shows).first().waitFor()
    await prepare?.(page)
  }
})
