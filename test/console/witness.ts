import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page } from 'playwright-core'
import { leaksIn } from '../e2e/security/leaks.ts'
import type { TestGateway } from '../support/gateway.ts'

/** Something that was seen, and where. */
interface Sighting {
  readonly where: string
  readonly text: string
}

/** All that a browser's memory of a site can hold beside the page. */
const REMEMBERED = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie])'

/** Writes down all that passes by: replies, addresses, what is asked to look at. */
export class Witness {
  readonly #seen: Sighting[] = []
  readonly #replies: Promise<void>[] = []

  /** From now on every request of the page's window and every reply to it is seen. */
  watch(page: Page): void {
    page.context().on('request', (request) => this.#seen.push({ where: 'URL', text: request.url() }))
    page.context().on('response', (response) => {
      // What was built before there was any secret is long, and tells none.
      if (response.url().includes('/console/assets/')) return
      const where = `reply to ${response.request().method()} ${new URL(response.url()).pathname}`
      // A reply may be gone with its page.
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
    page.on('console', (message) => this.#seen.push({ where: 'console of the browser', text: message.text() }))
  }

  /** Looks at the page as it is: its source, and what the browser remembers. */
  async look(page: Page, where: string): Promise<void> {
    this.#seen.push({ where: `source of ${where}`, text: await page.content() })
    this.#seen.push({ where: `memory at ${where}`, text: String(await page.evaluate(REMEMBERED)) })
  }

  /** Looks at what the gateway has written: its log and its database. */
  async lookBehind({ log, folder }: TestGateway): Promise<void> {
    this.#seen.push({ where: 'log', text: JSON.stringify(log) })
    for (const name of await readdir(folder))
      this.#seen.push({ where: `file ${name}`, text: (await readFile(join(folder, name))).toString('latin1') })
  }

  /** Where a secret stood, in whatever form; each place as often as it did. */
  async sightings(name: string, secret: string): Promise<string[]> {
    await Promise.all(this.#replies)
    return this.#seen.flatMap(({ where, text }) => (leaksIn(text, { [name]: secret }).length > 0 ? [where] : []))
  }
}
