import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, recorded, startConsole } from './fixture.ts'
import { Management, MEMBER, signInAsAdmin, signInAsMember } from './management.ts'

/** More than a field lists at once. */
const SERVICES = 240
const LONG = `The account of a customer whose name is as long as ${'a name of a customer may be'.padEnd(46, '!')}`

// The numbers are those of the findings of a review of the console.
describeInBrowser('what is looked up in the console', (open) => {
  let fixture: ConsoleFixture
  let page: Page
  let member: Page
  let admin: Management

  before(async () => {
    fixture = await startConsole()
    page = await open({ reducedMotion: 'reduce' })
    member = await open()
    admin = await signInAsAdmin(page, fixture)
    await signInAsMember(admin, member, fixture)
    await admin.patch('/accounts/default', { max_keys: 1000, name: LONG })
    await admin.post('/accounts', { name: 'Field team', models: ['*'] })
    await addServices()
  })

  after(() => fixture?.stop())

  /** With nothing in the browser's cache. */
  const signInAgain = (fresh: Page) =>
    new Management(fresh, fixture).post('/session', { email: MEMBER.email, password: MEMBER.password })

  /** Copies a key, directly in the database: each key is as the API would have made it. */
  async function addServices(): Promise<void> {
    const { db } = fixture.gateway.store
    await admin.post('/keys', { name: 'service', kind: 'live', tags: { team: 'search' } })
    const row = await db.selectFrom('keys').selectAll().where('name', '=', 'service').executeTakeFirstOrThrow()
    const rows = Array.from({ length: SERVICES }, (_, index) => {
      const number = String(index).padStart(3, '0')
      // The oldest first.
      const at = row.created_at - SERVICES + index
      return {
        ...row,
        id: `key_service${number}`,
        digest: number.repeat(21),
        name: `service ${number}`,
        tags: '{}',
        created_at: at,
      }
    })
    for (let from = 0; from < SERVICES; from += 60)
      await db
        .insertInto('keys')
        .values(rows.slice(from, from + 60))
        .execute()
  }

  async function call(model: string, content = 'Hi'): Promise<string> {
    const response = await fixture.gateway.fetch('/v1/chat/completions', {
      json: { model, messages: [{ role: 'user', content }] },
    })
    const id = response.headers.get('x-request-id')!
    await recorded(fixture.gateway.store, 'id', id)
    return id
  }

  // C8
  it('is a request by the last characters of its id, as the table shows them', async () => {
    const id = await call('acme/fast')
    await call('acme/fast')
    await page.goto(fixture.address('/requests'))
    await page.getByRole('link', { name: `req_…${id.slice(-8)}` }).waitFor()
    for (const text of [id.slice(-8), `req_…${id.slice(-8)}`, id.slice(0, 20)]) {
      await page.goto(fixture.address(`/requests?q=${encodeURIComponent(text)}`))
      await page.getByRole('link', { name: `req_…${id.slice(-8)}` }).waitFor()
      if (text !== id.slice(0, 20)) expect(await page.getByRole('row').count(), text).to.equal(2)
    }
  })

  // C8
  it('is a request by the last characters of its id from the jump list too', async () => {
    const id = await call('acme/fast')
    await page.goto(fixture.address('/models'))
    await page.getByRole('heading', { name: 'Models' }).waitFor()
    await page.keyboard.press('Control+k')
    await page.locator('input[aria-label="Go to"]').fill(`req_…${id.slice(-8)}`)
    await page.getByRole('option', { name: 'Find the request' }).waitFor()
    await page.locator('input[aria-label="Go to"]').press('Enter')
    await page.getByRole('link', { name: `req_…${id.slice(-8)}` }).waitFor()
  })

  // C8
  it('is a request by any of hundreds of keys', async () => {
    await page.goto(fixture.address('/requests'))
    await page.getByRole('combobox', { name: 'Key' }).click()
    await page.getByRole('combobox', { name: 'Key' }).fill('service 003')
    await page.getByRole('option', { name: 'service 003' }).click()
    await page.waitForURL('**/requests?key_id=key_service003')
    await page.getByText('No matching calls').waitFor()
    await page.reload()
    await page.locator('input[aria-label="Key"][value="service 003"]').waitFor()
  })

  // C8
  it('is a call by the name that the client used', async () => {
    const id = await call('gpt-4o')
    await page.goto(fixture.address('/requests?model=gpt-4o'))
    await page
      .getByRole('row', { name: /gpt-4o.*→ acme\/smart/ })
      .first()
      .waitFor()
    await page.goto(fixture.address(`/requests/${id}`))
    await page.getByText('gpt-4o (an alias of acme/smart)').waitFor()
  })

  it('is a call of a trace: its details have the trace id', async () => {
    const id = await call('acme/fast')
    await page.goto(fixture.address(`/requests/${id}`))
    const details = page.getByRole('dialog', { name: 'Request' })
    await details.getByText('Requested model').waitFor()
    expect(await details.getByText('Trace').count()).to.equal(0)
    const trace = crypto.randomUUID().replaceAll('-', '')
    await fixture.gateway.store.db.updateTable('calls').set({ trace_id: trace }).where('id', '=', id).execute()
    await page.reload()
    await details.getByText(trace).waitFor()
    await details.getByRole('button', { name: 'Copy trace id' }).waitFor()
  })

  // C8
  it('is why a call failed, in a sentence, with the status of the upstream', async () => {
    const id = await call('sandbox/hello', 'sandbox: status=503')
    await page.goto(fixture.address(`/requests/${id}`))
    const alert = page.getByRole('dialog', { name: 'Request' }).getByRole('alert')
    await alert.getByText('sandbox/hello replied with status 503.').first().waitFor()
    expect(await alert.textContent()).to.match(/upstream.*\./i)
  })

  // C8 and C3
  it('is closed by Escape: going back does not open it again, and the focus is where it was', async () => {
    const id = await call('acme/fast')
    await page.goto(fixture.address('/models'))
    await page.getByRole('link', { name: 'Requests' }).click()
    await page.getByRole('link', { name: `req_…${id.slice(-8)}` }).click()
    await page.getByRole('dialog', { name: 'Request' }).waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.textContent')).to.equal(`req_…${id.slice(-8)}`)
    await page.goBack()
    await page.getByRole('heading', { name: 'Models' }).waitFor()
  })

  // C8
  it('has happened "just now", even if the clock of this computer is behind', async () => {
    await call('openai/o4-mini')
    const late = await member.context().newPage()
    await late.clock.setFixedTime(Date.now() - 30_000)
    await late.goto(fixture.address('/requests?model=openai/o4-mini&range=30d'))
    await late.getByRole('row', { name: /just now.*o4-mini/ }).waitFor()
    await late.close()
  })

  // C12
  it('is a key by a whole secret, which is nowhere in the address', async () => {
    const { secret, masked } = await admin.post<{ secret: string; masked: string }>('/keys', { name: 'leaked', kind: 'live' })
    await page.goto(fixture.address('/keys'))
    const stored = await fixture.gateway.store.db.selectFrom('keys').select('id').execute()
    // And the one of routes.yaml.
    await page.getByText(`${stored.length + 1} keys`).waitFor()
    await page.getByRole('searchbox').fill(secret)
    await page.getByText('1 key', { exact: true }).waitFor()
    await page.getByRole('cell', { name: `Live ${masked}` }).waitFor()
    expect(page.url()).to.not.include(secret)
    expect(await page.content()).to.not.include(secret)
  })

  // C12
  it('is a key by its tag, and who created it', async () => {
    await page.goto(fixture.address('/keys?q=team%3Dsearch'))
    await page.getByText('1 key', { exact: true }).waitFor()
    await page.getByRole('row', { name: /^Choose service.*team=search.*by Ada Byron/ }).waitFor()
  })

  // C12
  it('is in an order of its own: by name, page by page', async () => {
    await page.goto(fixture.address('/keys'))
    await page.getByRole('combobox', { name: 'Order' }).selectOption('By name')
    await page.waitForURL('**/keys?sort=name')
    await page.getByText('service 000', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Show more' }).click()
    await page.getByText('service 090', { exact: true }).waitFor()
    const names = await page.locator('tbody td:nth-child(2)').allTextContents()
    const sorted = names.flatMap((name) => /^service \d{3}/.exec(name) ?? [])
    expect(sorted.length).to.be.above(90)
    expect(sorted).to.deep.equal(sorted.toSorted())
  })

  // C12
  it('is a reload in the audit trail, with the names of accounts, and as a file', async () => {
    const file = join(fixture.gateway.folder, 'routes.yaml')
    const text = await readFile(file, 'utf8')
    await writeFile(file, text.replace('optional: true', 'optinal: true'))
    await fixture.gateway.reload()
    await writeFile(file, text)
    await fixture.gateway.reload()
    await page.goto(fixture.address('/audit'))
    await page
      .getByRole('row', { name: /config\.refuse.*gateway.*routes\.yaml.*line \d+: .*optinal/ })
      .first()
      .waitFor()
    await page
      .getByRole('row', { name: new RegExp(`key\\.create.*account ${LONG}`) })
      .first()
      .waitFor()
    const [csv] = await Promise.all([page.waitForEvent('download'), page.getByRole('link', { name: 'CSV' }).click()])
    expect(await readFile(await csv.path(), 'utf8')).to.match(/^id,at,actor_id,actor,action,.*\r\n(?:.*\r\n)*.*config\.refuse/)
  })

  // C12
  it('is of the API what its reader may call', async () => {
    await member.goto(fixture.address('/api'))
    await member.getByRole('button', { name: /List calls/ }).waitFor()
    expect(await member.getByRole('button', { name: /Create an account/ }).count()).to.equal(0)
    await page.goto(fixture.address('/api'))
    await page.getByRole('button', { name: /Create an account/ }).waitFor()
    await page.getByRole('heading', { name: 'OpenID Connect' }).waitFor()
  })

  // C9
  it('is of a model whether its calls succeed', async () => {
    await call('sandbox/echo', 'sandbox: status=503')
    await page.goto(fixture.address('/models?q=sandbox/echo'))
    const echo = (state: string) => page.getByRole('row', { name: new RegExp(`sandbox/echo.*${state} failed since`) })
    await echo('Available.*1 of 1 call').waitFor()
    for (let count = 2; count <= 3; count++) await call('sandbox/echo', 'sandbox: status=503')
    await page.reload()
    await echo('Failing.*3 of 3 calls').waitFor()
  })

  it("is of a model that a caller's own mistakes are no failures of it", async () => {
    for (let count = 1; count <= 4; count++) await call('sandbox/hello', 'sandbox: status=400')
    await page.goto(fixture.address('/models?q=sandbox/hello'))
    const row = page.getByRole('row', { name: /sandbox\/hello/ })
    await row.waitFor()
    // Another test may have had a call that its upstream failed.
    expect(await row.innerText())
      .to.include('Available')
      .and.not.match(/\b[4-9] of /)
  })

  it('is at a budget which models it makes impossible to call', async () => {
    await page.goto(fixture.address('/keys?new=1'))
    const dialog = page.getByRole('dialog')
    await dialog.getByRole('combobox', { name: 'Budgets' }).fill('5 USD/day')
    await dialog.getByRole('combobox', { name: 'Budgets' }).press('Enter')
    await dialog.getByText(/A budget refuses .* whose price is not known: .*openai\/gpt-5\.5/).waitFor()
    await page.keyboard.press('Escape')
  })

  it('is of a model without a price, before a budget refuses it', async () => {
    await page.goto(fixture.address('/models?q=gpt-5.5'))
    await page
      .getByRole('row', { name: /openai\/gpt-5\.5.*Unknown.*Budgets refuse it/ })
      .first()
      .waitFor()
    await page.goto(fixture.address('/models?q=sandbox/hello'))
    await page.getByRole('row', { name: /sandbox\/hello.*Free/ }).waitFor()
    expect(await page.getByText('Budgets refuse it').count()).to.equal(0)
  })

  // C12
  it('is there after a few requests for files', async () => {
    const fresh = await open()
    await signInAgain(fresh)
    const files = new Set<string>()
    fresh.on('request', (request) => files.add(request.url()))
    await fresh.goto(fixture.address('/keys'))
    await fresh.getByRole('cell', { name: 'service 239' }).first().waitFor()
    expect([...files].filter((url) => url.includes('/assets/')).length).to.be.below(10)
  })

  // C10
  it('is a page of a new version, after the gateway was replaced under the console', async () => {
    let isOld = true
    await member.goto(fixture.address('/keys'))
    await member.getByRole('heading', { name: 'API keys' }).waitFor()
    await member.route('**/assets/connect-page-*', (route) =>
      isOld ? route.fulfill({ status: 404, body: '' }) : route.continue(),
    )
    await member.getByRole('link', { name: 'Connect' }).click()
    await member.getByText('The files of this page could not be loaded.').waitFor()
    await member.getByRole('link', { name: 'API keys' }).click()
    await member.getByRole('heading', { name: 'API keys' }).waitFor()
    await member.route('**/console/', (route) => {
      isOld = false
      return route.fulfill({
        contentType: 'text/html',
        body: '<script type="module" src="/console/assets/index-new.js"></script>',
      })
    })
    await member.getByRole('link', { name: 'Connect' }).click()
    await member.getByRole('heading', { name: 'Connect' }).waitFor()
    expect(member.url()).to.equal(fixture.address('/connect'))
  })
})
