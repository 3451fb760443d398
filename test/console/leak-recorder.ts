import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Page, Request } from 'playwright-core'
import { leaksIn } from '../e2e/security/leaks.ts'
import type { TestGateway } from '../support/gateway.ts'

/** A recorded text and its source. */
interface Recorded {
  readonly where: string
  readonly text: string
}

/** Everything that a browser stores for a site besides the page. */
const REMEMBERED = 'JSON.stringify([{ ...localStorage }, { ...sessionStorage }, history.state, document.cookie])'

/** Records URLs, replies, pages and the gateway's files, to search them for secrets. */
export class LeakRecorder {
  readonly #recorded: Recorded[] = []
  readonly #replies: Promise<void>[] = []

  /** Records every request and reply of the page's window from now on. */
  watch(page: Page): void {
    page.context().on('request', (request) => {
      this.#recorded.push({ where: 'URL', text: request.url() })
      this.#replies.push(this.#recordReply(request))
    })
    page.on('framenavigated', (frame) => this.#recorded.push({ where: 'address bar', text: frame.url() }))
    page.on('console', (message) => this.#recorded.push({ where: 'browser console', text: message.text() }))
  }

  /** Records the replies to all requests so far, then the source of the page and the browser's storage. */
  async recordPage(page: Page, where: string): Promise<void> {
    await Promise.all(this.#replies)
    this.#recorded.push({ where: `source of ${where}`, text: await page.content() })
    this.#recorded.push({ where: `memory at ${where}`, text: String(await page.evaluate(REMEMBERED)) })
  }

  /** Records the gateway's log and database. */
  async recordGateway({ log, folder }: TestGateway): Promise<void> {
    this.#recorded.push({ where: 'log', text: JSON.stringify(log) })
    for (const name of await readdir(folder))
      this.#recorded.push({ where: `file ${name}`, text: (await readFile(join(folder, name))).toString('latin1') })
  }

  /** The sources of all records that contain a secret in any form. */
  async leaksOf(name: string, secret: string): Promise<string[]> {
    await Promise.all(this.#replies)
    return this.#recorded.flatMap(({ where, text }) => (leaksIn(text, { [name]: secret }).length > 0 ? [where] : []))
  }

  async #recordReply(request: Request): Promise<void> {
    const reply = await request.response()
    // Built files are long and contain no secret.
    if (reply === null || reply.url().includes('/console/assets/')) return
    const where = `reply to ${request.method()} ${new URL(reply.url()).pathname}`
    // A reply may be discarded with its page.
    const body = reply.text().catch(() => '')
    const [text, headers] = await Promise.all([body, reply.allHeaders()])
    this.#recorded.push({ where, text: text + JSON.stringify(headers) })
  }
}
