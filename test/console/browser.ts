import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { describeWith, find } from '../support/requirements.ts'

/** The timeout of waiting for a page, on a busy machine. */
const PATIENCE_MS = 30_000

/** Opens a page in a new browser context. */
export type OpenWindow = (options?: BrowserContextOptions) => Promise<Page>

/** A suite that needs a browser. */
export function describeInBrowser(title: string, body: (open: OpenWindow) => void): void {
  describeWith('chromium', title, () => {
    let browser: Browser

    before(async () => {
      browser = await chromium.launch({ executablePath: find('chromium')!, args: ['--no-sandbox'] })
    })

    after(() => browser?.close())

    body(async (options) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      context.setDefaultTimeout(PATIENCE_MS)
      return context.newPage()
    })
  })
}
