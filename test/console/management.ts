import { expect } from 'chai'
import type { Page } from 'playwright-core'
import type { ConsoleFixture } from './fixture.ts'

/** The management API, called with the cookies of a page. */
export class Management {
  readonly #page: Page
  readonly #origin: string

  constructor(page: Page, { gateway }: ConsoleFixture) {
    this.#page = page
    this.#origin = gateway.adminUrl
  }

  post<Reply>(path: string, data: object = {}): Promise<Reply> {
    return this.#send('POST', path, data)
  }

  patch<Reply>(path: string, data: object): Promise<Reply> {
    return this.#send('PATCH', path, data)
  }

  async #send<Reply>(method: string, path: string, data: object): Promise<Reply> {
    const url = `${this.#origin}/api/v1${path}`
    const response = await this.#page.request.fetch(url, { method, data, headers: { origin: this.#origin } })
    expect(response.ok(), `${path}: ${await response.text()}`).to.equal(true)
    return response.json().catch(() => undefined) as Reply
  }
}

/** Uses the setup link: the page is then signed in as the first admin. */
export async function signInAsAdmin(page: Page, fixture: ConsoleFixture): Promise<Management> {
  const management = new Management(page, fixture)
  const token = new URL(fixture.setupLink).hash.slice(1)
  await management.post('/setup', { token, name: 'Ada Byron', email: 'ada@example.com', password: 'correct horse battery' })
  return management
}

/** The user of `signInAsMember`. */
export const MEMBER = { name: 'Mo Tester', email: 'mo@example.com', password: 'a staple is not a horse' }

/** Invites a user, who accepts in another page. */
export async function signInAsMember(admin: Management, page: Page, fixture: ConsoleFixture): Promise<void> {
  const invitation = { email: MEMBER.email, role: 'member', account_id: 'default' }
  const { link } = await admin.post<{ link: string }>('/invitations', invitation)
  const answer = { token: new URL(link).hash.slice(1), name: MEMBER.name, password: MEMBER.password }
  await new Management(page, fixture).post('/invitations/accept', answer)
}
