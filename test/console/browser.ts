import { existsSync } from 'node:fs'
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'

const EXECUTABLE = '/usr/bin/chromium'

/** Long enough for a browser that starts on a busy machine. */
const TIMEOUT_MS = 60_000

/** For something to appear on a page. */
const PATIENCE_MS = 10_000

/** Opens windows; each has cookies of its own, as another person would. */
export type OpenWindow = (options?: BrowserContextOptions) => Promise<Page>

/** A suite that needs Debian's Chromium. Where there is none, it is skipped by name. */
export function describeInBrowser(title: string, body: (open: OpenWindow) => void): void {
  describe(title, function () {
    this.timeout(TIMEOUT_MS)
    if (!existsSync(EXECUTABLE)) {
      it.skip(`works in a browser (skipped: there is no ${EXECUTABLE})`)
      return
    }
    let browser: Browser

    before(async () => {
      browser = await chromium.launch({ executablePath: EXECUTABLE, args: ['--no-sandbox'] })
    })

    after(() => browser.close())

    body(async (options) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      context.setDefaultTimeout(PATIENCE_MS)
      return context.newPage()
    })
  })
}
