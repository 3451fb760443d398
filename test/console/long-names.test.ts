import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { Management, signInAsAdmin } from './management.ts'

/** The longest name that a key, an account or a user may have, without a place to break it. */
const LONG = 'K'.repeat(100)
const MODEL = `gpt-${'m'.repeat(96)}`

/** The pixels of a table that are not on the screen. */
const BEYOND = '(({ scrollWidth, clientWidth }) => scrollWidth - clientWidth)(document.querySelector("table").parentElement)'

/** The pages with tables that show names. */
const PATHS = ['/requests', '/keys', '/accounts', '/accounts?tab=users', '/accounts?tab=invitations', '/audit', '/models']

describeInBrowser('a name of 100 characters without a space', (open) => {
  let fixture: ConsoleFixture
  let page: Page

  before(async () => {
    fixture = await startConsole({ models: ['gpt-5.5', MODEL] })
    page = await open()
    const admin = await signInAsAdmin(page, fixture)
    const account = await admin.post<{ id: string }>('/accounts', { name: LONG, models: [`openai/${MODEL}`] })
    const invitation = { email: 'lin@example.com', role: 'member', account_id: account.id }
    const { link } = await admin.post<{ link: string }>('/invitations', invitation)
    const answer = { token: new URL(link).hash.slice(1), name: LONG, password: 'a staple is not a horse' }
    await new Management(await open(), fixture).post('/invitations/accept', answer)
    await admin.post('/invitations', { ...invitation, email: `${'e'.repeat(60)}@${'d'.repeat(60)}.example.com` })
    const { secret } = await admin.post<{ secret: string }>('/keys', { name: LONG, kind: 'live', account_id: account.id })
    const { headers } = await fixture.gateway.fetch('/v1/chat/completions', {
      key: secret,
      json: { model: `openai/${MODEL}`, messages: [{ role: 'user', content: 'Hi' }] },
    })
    await fixture.gateway.logged((line) => line.id === headers.get('x-request-id'))
  })

  after(() => fixture?.stop())

  for (const width of [1440, 1280])
    for (const path of PATHS)
      it(`leaves all columns of ${path} on a screen of ${width} pixels`, async () => {
        await page.setViewportSize({ width, height: 900 })
        await page.goto(fixture.address(path))
        await page
          .getByText(/K{20}|m{20}|e{20}/)
          .first()
          .waitFor({ state: 'attached' })
        await page.getByRole('table').first().waitFor()
        const beyond = await page.evaluate(BEYOND)
        expect(beyond).to.equal(0)
      })
})
