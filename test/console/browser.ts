import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { describeWith, find } from '../support/requirements.ts'

/** The timeout of waiting for a page, on a busy machine. */
const PATIENCE_MS = 30_000

/** One process for all pages, and none for graphics: Chromium then needs a seventh less CPU. */
const ARGS = [
  '--no-sandbox',
  '--process-per-site',
  '--renderer-process-limit=1',
  '--disable-site-isolation-trials',
  '--in-process-gpu',
]

/** Opens a page in a new browser context. */
export type OpenWindow = (options?: BrowserContextOptions) => Promise<Page>

/** A suite that needs a browser. */
export function describeInBrowser(title: string, body: (open: OpenWindow) => void): void {
  describeWith('chromium', title, () => {
    let browser: Browser

    before(async () => {
      browser = await chromium.launch({ executablePath: find('chromium')!, args: ARGS })
    })

    after(() => browser?.close())

    // The message of a time-out does not say what the page showed instead.
    afterEach(async function () {
      if (!this.currentTest?.isFailed()) return
      const error = this.currentTest.err!
      const texts = await textsOf(browser)
      // Mocha prints the stack, which begins with the message.
      error.stack = error.stack!.replace(error.message, (message) => message + texts)
    })

    body(async (options) => {
      const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, ...options })
      context.setDefaultTimeout(PATIENCE_MS)
      return context.newPage()
    })
  })
}

/** The text of each open page, for the message of a failed test. */
async function textsOf(browser: Browser): Promise<string> {
  const pages = browser.contexts().flatMap((context) => context.pages())
  const texts = pages.map(async (page) => `\n\n${page.url()} shows:\n${await page.locator('body').innerText()}`)
  return (await Promise.all(texts)).join('')
}
