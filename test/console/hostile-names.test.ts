import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { Management, signInAsAdmin } from './management.ts'

/** Texts that would run as code if a page used them as HTML, a URL, or a template. */
const HOSTILE = ['<img src=x onerror="pwned=1">', '"><script>pwned=1</script>', 'javascript:pwned=1', "'-pwned=1-'{{pwned=1}}"]

const [IMAGE = '', SCRIPT = '', ADDRESS = '', TEMPLATE = ''] = HOSTILE

/** Every page that shows names chosen by users. */
const PATHS = [
  '/keys',
  '/usage?range=24h',
  '/usage?range=24h&group=key',
  '/usage?range=24h&group=account',
  '/usage?range=24h&group=tag&tag=team',
  '/requests',
  '/accounts',
  '/accounts?tab=users',
  '/accounts?tab=invitations',
  '/models',
  `/connect?model=${encodeURIComponent(IMAGE)}`,
  `/playground?model=${encodeURIComponent(SCRIPT)}`,
  '/audit',
]

describeInBrowser('names that contain code', (open) => {
  let fixture: ConsoleFixture
  let page: Page
  const violations: string[] = []

  before(async () => {
    fixture = await startConsole({ models: ['gpt-5.5', IMAGE] })
    page = await open()
    page.on('dialog', (dialog) => dialog.dismiss())
    page.on('console', (message) => {
      if (message.text().includes('Content Security Policy')) violations.push(message.text())
    })
    const admin = await signInAsAdmin(page, fixture)
    const account = await admin.post<{ id: string }>('/accounts', { name: SCRIPT, models: ['*'] })
    const invitation = { email: '"><script>@example.com', role: 'member', account_id: account.id }
    const { link } = await admin.post<{ link: string }>('/invitations', { ...invitation, email: 'lin@example.com' })
    const answer = { token: new URL(link).hash.slice(1), name: IMAGE, password: 'a staple is not a horse' }
    await new Management(await open(), fixture).post('/invitations/accept', answer)
    await admin.post('/invitations', invitation)
    const key = { name: TEMPLATE, kind: 'live', tags: { team: IMAGE }, account_id: account.id }
    const { secret } = await admin.post<{ secret: string }>('/keys', key)
    for (const [index, name] of [IMAGE, SCRIPT, ADDRESS].entries())
      await admin.post('/keys', { name, kind: 'live', tags: { team: HOSTILE[index]! } })
    for (const model of [`openai/${IMAGE}`, `acme/${SCRIPT}`])
      await fixture.gateway.fetch('/v1/chat/completions', {
        key: secret,
        json: { model, messages: [{ role: 'user', content: 'Hi' }] },
      })
  })

  after(() => fixture?.stop())

  for (const path of PATHS)
    it(`are shown as text on ${path}`, async () => {
      await page.goto(fixture.address(path))
      await page
        .getByText(/pwned|script>@/)
        .first()
        .waitFor({ state: 'attached' })
      expect(await page.evaluate('typeof pwned')).to.equal('undefined')
      expect(await page.locator('#root img[src="x"], #root script, a[href^="javascript:"]').count()).to.equal(0)
    })

  it('cause no violation of the content security policy', () => {
    expect(violations).to.deep.equal([])
  })
})
