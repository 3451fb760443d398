import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { leaksIn } from '../e2e/security/leaks.ts'
import type { TestGateway } from '../support/gateway.ts'

/** A recorded text and its origin. */
interface Occurrence {
  readonly where: string
  readonly text: string
}

/** What a browser stores for a site. */
const REMEMBERED = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie])'

/** Records replies, URLs, pages and files, to find secrets in them. */
export class LeakRecorder {
  readonly #seen: Occurrence[] = []
  readonly #replies: Promise<void>[] = []

  /** Records every request of the page's context, and its replies. */
  watch(page: Page): void {
    page.context().on('request', (request) => this.#seen.push({ where: 'URL', text: request.url() }))
    page.context().on('response', (response) => {
      // Assets are large, and were built before the secrets existed.
      if (response.url().includes('/console/assets/')) return
      const where = `reply to ${response.request().method()} ${new URL(response.url()).pathname}`
      // A reply is lost when its page is closed.
      const body = response.text().then(
        (text) => text,
        () => '',
      )
      this.#replies.push(
        Promise.all([body, response.allHeaders()]).then(([text, headers]) => {
          this.#seen.push({ where, text: text + JSON.stringify(headers) })
        }),
      )
    })
    page.on('framenavigated', (frame) => this.#seen.push({ where: 'address bar', text: frame.url() }))
    page.on('console', (message) => this.#seen.push({ where: 'browser console', text: message.text() }))
  }

  /** Records the page's DOM, and what the browser stores. */
  async inspect(page: Page, where: string): Promise<void> {
    this.#seen.push({ where: `source of ${where}`, text: await page.content() })
    this.#seen.push({ where: `memory at ${where}`, text: String(await page.evaluate(REMEMBERED)) })
  }

  /** Records the gateway's log and database. */
  async inspectGateway({ log, folder }: TestGateway): Promise<void> {
    this.#seen.push({ where: 'log', text: JSON.stringify(log) })
    for (const name of await readdir(folder))
      this.#seen.push({ where: `file ${name}`, text: (await readFile(join(folder, name))).toString('latin1') })
  }

  /** The origins of the texts that contain a secret in any form. */
  async occurrences(name: string, secret: string): Promise<string[]> {
    await Promise.all(this.#replies)
    return this.#seen.flatMap(({ where, text }) => (leaksIn(text, { [name]: secret }).length > 0 ? [where] : []))
  }
}
