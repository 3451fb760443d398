// biome-ignore-all lint/suspicious/noTemplateCurlyInString: ${…} is the syntax of routes.yaml

import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect } from 'chai'
import type { Locator, Page } from 'playwright-core'
import { createAccount } from '../../core/accounts/accounts.ts'
import { GATEWAY } from '../../core/accounts/audit.ts'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, startConsole } from './fixture.ts'
import { Management, signInAsAdmin, signInAsMember } from './management.ts'

describeInBrowser('the pages of the console', (open) => {
  let fixture: ConsoleFixture
  let admin: Page
  let member: Page

  before(async () => {
    fixture = await startConsole()
    admin = await open()
    member = await open()
    const management = await signInAsAdmin(admin, fixture)
    await signInAsMember(management, member, fixture)
    const { id } = await management.post<{ id: string }>('/accounts', { name: 'Field team', models: ['*'] })
    await management.post('/keys', { name: "somebody else's", kind: 'live', account_id: id })
    // A class that routes.yaml no longer declares.
    await createAccount(fixture.gateway.store, { name: 'Old team', models: ['*'], rateClass: 'retired' }, GATEWAY)
  })

  after(() => fixture?.stop())

  const call = (model: string) =>
    fixture.gateway.fetch('/v1/chat/completions', { json: { model, messages: [{ role: 'user', content: 'Hi' }] } })

  /** Changes routes.yaml during a check. */
  async function withTable(change: (text: string) => string, look: () => Promise<void>): Promise<void> {
    const file = join(fixture.gateway.folder, 'routes.yaml')
    const text = await readFile(file, 'utf8')
    await writeFile(file, change(text))
    await fixture.gateway.reload()
    await look()
    await writeFile(file, text)
    await fixture.gateway.reload()
  }

  it('follows calls as they end', async () => {
    await admin.goto(fixture.address('/requests?live=1'))
    await admin.getByText('Following').waitFor()
    await call('acme/fast')
    await admin.getByRole('row', { name: /acme\/fast.*200/ }).waitFor()
    await admin.getByRole('button', { name: 'Pause' }).click()
    await call('openai/o4-mini')
    await admin.getByText('1 new').waitFor()
    expect(await admin.getByRole('row', { name: /o4-mini/ }).count()).to.equal(0)
    await admin.getByRole('button', { name: 'Resume' }).click()
    await admin.getByRole('row', { name: /o4-mini/ }).waitFor()
  })

  it('shows the timeline of a call: its links, the gateway, its attempts', async () => {
    const id = (await call('acme/fast')).headers.get('x-request-id')
    await fixture.gateway.logged((line) => line.id === id)
    await admin.goto(fixture.address(`/requests/${id}`))
    const bars = admin.getByRole('list', { name: 'Timeline' }).getByRole('listitem')
    await bars.first().waitFor()
    const time = '[\\d.]+ (?:µs|ms|s)'
    const told = [
      ...['auth', 'rate-tagging', 'header-stamping'].map((name) => `${name} link`),
      'Gateway reading, validating, waiting',
      'openai/gpt-5.5-mini attempt 1, ok',
    ].map((words) => new RegExp(`^${words}${time}$`))
    const texts = await bars.allTextContents()
    expect(texts).to.have.length(told.length)
    for (const [index, words] of told.entries()) expect(texts[index]).to.match(words)
  })

  it('exports calls and usage with the filters of the page', async () => {
    await admin.goto(fixture.address('/requests?model=openai/o4-mini'))
    await admin.getByRole('row', { name: /o4-mini/ }).waitFor()
    await admin.getByRole('button', { name: 'Export' }).click()
    const [lines] = await Promise.all([
      admin.waitForEvent('download'),
      admin.getByRole('menuitem', { name: 'JSON Lines' }).click(),
    ])
    const rows = (await readFile(await lines.path(), 'utf8')).trim().split('\n')
    expect(rows.map((row) => JSON.parse(row).model)).to.deep.equal(['openai/o4-mini'])
    await admin.goto(fixture.address('/usage'))
    const [csv] = await Promise.all([admin.waitForEvent('download'), admin.getByRole('link', { name: 'CSV' }).click()])
    expect(await readFile(await csv.path(), 'utf8')).to.include('openai/o4-mini')
  })

  it('offers the declared rate classes, and keeps one that is no longer declared', async () => {
    const rateClass = admin.getByRole('dialog').getByRole('combobox', { name: 'Rate class' })
    const edit = async (account: string): Promise<readonly string[]> => {
      await admin.getByRole('button', { name: `Edit ${account}` }).click()
      await rateClass.waitFor()
      return rateClass.getByRole('option').allTextContents()
    }
    await admin.goto(fixture.address('/accounts'))
    expect(await edit('Old team')).to.deep.equal(['Default', 'standard', 'batch', 'retired (not in routes.yaml)'])
    expect(await rateClass.inputValue()).to.equal('retired')
    await admin.keyboard.press('Escape')
    await rateClass.waitFor({ state: 'hidden' })
    expect(await edit('Field team')).to.deep.equal(['Default', 'standard', 'batch'])
    await rateClass.selectOption('batch')
    await admin.getByRole('button', { name: 'Save' }).click()
    await admin.getByRole('row', { name: /Field team.*batch/ }).waitFor()
  })

  it('accepts any rate class if no plugin declares any', async () => {
    const withoutClasses = (text: string) => text.replace(/ {2}- plugin: rate-tagging\n( {4}.*\n)+/, '')
    await withTable(withoutClasses, async () => {
      await admin.goto(fixture.address('/accounts'))
      await admin.getByRole('button', { name: 'Edit Old team' }).click()
      const rateClass = admin.getByRole('dialog').getByRole('textbox', { name: 'Rate class' })
      await rateClass.fill('known elsewhere')
      await admin.getByRole('button', { name: 'Save' }).click()
      await admin.getByRole('row', { name: /Old team.*known elsewhere/ }).waitFor()
    })
  })

  it('offers a model that the gateway serves, on Connect and in the playground, also without a sandbox', async () => {
    const withoutSandbox = (text: string): string =>
      text.replace('  sandbox:\n    provider: sandbox\n', '').replace('        fallbacks: [sandbox/hello]\n', '')
    await withTable(withoutSandbox, async () => {
      const { data } = await (await admin.request.get(`${fixture.gateway.adminUrl}/api/v1/models`)).json()
      expect(data.map(({ namespace }: { namespace: string }) => namespace)).to.not.include('sandbox')
      const [first] = data.filter(({ available }: { available: boolean }) => available)
      await admin.goto(fixture.address('/connect'))
      await admin.getByRole('region', { name: 'curl snippet' }).getByText(first.id).waitFor()
      await admin.goto(fixture.address('/playground'))
      await admin.getByRole('tab', { name: 'Code' }).click()
      await admin.getByRole('region', { name: /code$/ }).getByText(first.id).waitFor()
    })
  })

  it('says before a key is created that its account may have no more', async () => {
    const management = new Management(admin, fixture)
    await management.patch('/accounts/default', { max_keys: 1 })
    await admin.goto(fixture.address('/keys?new=1'))
    await admin
      .getByRole('dialog')
      .getByText(/of its 1 keys\. Revoke keys that are not used, or raise/)
      .waitFor()
    await management.patch('/accounts/default', { max_keys: 100 })
  })

  it('offers for a key no later expiry than its account allows', async () => {
    const management = new Management(admin, fixture)
    await management.patch('/accounts/default', { max_key_days: 45 })
    await admin.goto(fixture.address('/keys?new=1'))
    const dialog = admin.getByRole('dialog')
    await dialog.getByLabel('Name').fill('short-lived')
    await dialog.getByRole('combobox', { name: 'Expires' }).click()
    const options = admin.getByRole('option').filter({ hasText: /^In \d/ })
    await admin.getByRole('option', { name: 'In 45 days, the longest life of keys' }).waitFor()
    expect(await options.allTextContents()).to.deep.equal(['In 7 days', 'In 30 days', 'In 45 days, the longest life of keys'])
    await admin.getByRole('option', { name: 'In 45 days' }).click()
    const created = admin.waitForResponse((reply) => reply.request().method() === 'POST' && reply.url().endsWith('/keys'))
    await dialog.getByRole('button', { name: 'Create key' }).click()
    const { created_at, expires_at } = await (await created).json()
    expect(Date.parse(expires_at) - Date.parse(created_at)).to.equal(45 * 86_400_000)
    await management.patch('/accounts/default', { max_key_days: null })
  })

  it('keeps filters in the URL', async () => {
    await admin.goto(fixture.address('/keys'))
    await admin.getByRole('searchbox').fill('nightly')
    await admin.waitForURL('**/keys?q=nightly')
    await admin.getByRole('row').nth(1).getByText('nightly').waitFor()
    await admin.reload()
    await admin.getByRole('cell', { name: 'nightly' }).first().waitFor()
    expect(await admin.getByRole('row').count()).to.equal(2)
  })

  it('links a declared key to its line', async () => {
    await admin.getByRole('link', { name: /^Declared in routes.yaml:\d+$/ }).click()
    await admin.waitForURL(/\/config\?line=\d+$/)
    await admin.locator('li', { hasText: 'name: nightly' }).waitFor()
  })

  it('shows a declared account with its line, and no way to edit it', async () => {
    await withTable(
      (text) => `${text}\naccounts: { research: { models: ["sandbox/*"] } }\n`,
      async () => {
        await admin.goto(fixture.address('/accounts'))
        const row = admin.getByRole('row', { name: /^research sandbox/ })
        await row.getByRole('link', { name: /^Declared in routes.yaml:\d+$/ }).waitFor()
        expect(await row.getByRole('button', { name: /^Edit/ }).count()).to.equal(0)
      },
    )
  })

  it('shows the credentials of a namespace by their names, and which is cooling down', async () => {
    const several = (text: string) =>
      text.replace(
        /(baseUrl: "[^"]+"), apiKey: "\$\{env:OPENAI_API_KEY\}" \}/,
        '$1 }\n    credentials: { research: { apiKey: "${env:OPENAI_SECOND_KEY}" }, product: { apiKey: "${env:OPENAI_API_KEY}" } }',
      )
    fixture.refuse('sk-second')
    await withTable(several, async () => {
      for (const _ of ['research', 'product']) expect((await call('openai/gpt-5.5-mini')).status).to.equal(200)
      await admin.goto(fixture.address('/routes'))
      const credentials = admin.getByRole('list', { name: 'Credentials of openai/*' }).getByRole('listitem')
      await credentials.filter({ hasText: /^research: refused, cooling down for \d+ s$/ }).waitFor()
      await credentials.filter({ hasText: /^product: available$/ }).waitFor()
      expect(await admin.locator('main').textContent()).to.not.match(/sk-(?:second|upstream)/)
    })
  })

  it('shows why a target is not healthy: how many calls failed, when and why the last one did, and models that are not listed', async () => {
    const dead = (text: string) =>
      text.replace(
        'namespaces:\n',
        'namespaces:\n  dead:\n    provider: openai-compatible\n    breaker: false\n    config: { baseUrl: "http://127.0.0.1:1/v1" }\n  gone:\n    models: { any: { targets: [{ model: dead/any }] } }\n',
      )
    await withTable(dead, async () => {
      await admin.goto(fixture.address('/routes'))
      const lane = admin.getByRole('region', { name: 'gone/any' })
      await lane.getByText('No calls yet').waitFor()
      for (const _ of [1, 2]) expect((await call('gone/any')).status).to.equal(502)
      await admin.reload()
      await lane.getByText('Last call failed').waitFor()
      const evidence = await lane.getByText('Last error').textContent()
      expect(evidence).to.match(/^(\d+) of \1 failed since \d\d:\d\d\. Last error just now: The upstream could not be reached\.$/)
      const right = async (locator: Locator) => locator.boundingBox().then((box) => box!.x + box!.width)
      expect(await right(lane.getByRole('listitem')), 'the words stay in their lane').to.be.at.most(await right(lane))
      const namespace = admin.getByRole('region', { name: 'dead/*' })
      await namespace.getByText('Models not listed').waitFor()
      expect(await namespace.textContent()).to.include('ECONNREFUSED, just now')
      for (const colorScheme of ['light', 'dark'] as const) {
        await admin.emulateMedia({ colorScheme })
        expect(await accessibilityViolations(admin, 'all'), colorScheme).to.deep.equal([])
      }
      await admin.emulateMedia({ colorScheme: null })
    })
  })

  it('asks for the whole routes.yaml on its own page only', async () => {
    const asked: string[] = []
    const note = (request: { url(): string }) => asked.push(new URL(request.url()).pathname)
    admin.on('request', note)
    await admin.goto(fixture.address('/models'))
    await admin.getByRole('cell', { name: 'acme/smart' }).first().waitFor()
    await admin.goto(fixture.address('/accounts'))
    await admin.getByRole('button', { name: 'Edit Old team' }).click()
    await admin.getByRole('dialog').getByRole('combobox', { name: 'Rate class' }).waitFor()
    expect(asked).to.include('/api/v1/config/state').and.not.include('/api/v1/config')
    await admin.goto(fixture.address('/config'))
    await admin.getByText('in use since').waitFor()
    expect(asked.filter((path) => path === '/api/v1/config')).to.have.lengthOf(1)
    admin.off('request', note)
  })

  it('sets how many keys an account may have', async () => {
    await admin.goto(fixture.address('/accounts'))
    await admin.getByRole('button', { name: 'Edit Field team' }).click()
    const most = admin.getByRole('textbox', { name: 'Most keys' })
    expect(await most.inputValue()).to.equal('100')
    await most.fill('2000000')
    await admin.getByRole('button', { name: 'Save' }).click()
    await admin.getByText('give a whole number up to 1000000').waitFor()
    await most.fill('250')
    await admin.getByRole('button', { name: 'Save' }).click()
    await admin.getByRole('dialog').waitFor({ state: 'detached' })
    await admin.getByRole('button', { name: 'Edit Field team' }).click()
    expect(await most.inputValue()).to.equal('250')
  })

  it('sets budgets, and shows what is left of them', async () => {
    await admin.goto(fixture.address('/accounts'))
    await admin.getByRole('button', { name: 'Edit Field team' }).click()
    const budgets = admin.getByRole('combobox', { name: 'Budgets' })
    await budgets.fill('500 USD/year')
    await budgets.press('Enter')
    await admin.getByRole('button', { name: 'Save' }).click()
    await admin.getByText('"500 USD/year" is not a budget').waitFor()
    await budgets.press('Backspace')
    await budgets.fill('500 USD/month')
    await budgets.press('Enter')
    await admin.getByRole('button', { name: 'Save' }).click()
    await admin.getByText('$500.00 left of 500 USD/month').waitFor()
  })

  it('shows a member neither keys of other accounts nor pages for admins', async () => {
    await member.goto(fixture.address('/keys'))
    await member.getByRole('cell', { name: 'nightly' }).first().waitFor()
    expect(await member.getByText("somebody else's").count()).to.equal(0)
    await member.goto(fixture.address('/audit'))
    await member.getByText('This page is for admins').waitFor()
  })

  it('keeps the chosen color scheme', async () => {
    await member.getByRole('button', { name: /Mo Tester/ }).click()
    await member.getByText('Dark', { exact: true }).click()
    await member.reload()
    await member.getByText('This page is for admins').waitFor()
    expect(await member.evaluate('document.documentElement.dataset.mantineColorScheme')).to.equal('dark')
  })

  it('shows on every page that a changed routes.yaml was rejected, and the errors', async () => {
    await withTable(
      (text) => text.replace('optional: true', 'optinal: true'),
      async () => {
        await admin.goto(fixture.address('/models'))
        await admin.getByRole('link', { name: 'Show the errors' }).click()
        await admin.getByText('The last change was rejected').waitFor()
        await admin
          .getByText(/did you mean "?optional/)
          .first()
          .waitFor()
        // C9
        expect(
          await admin
            .getByRole('region', { name: /^refused text around line/ })
            .first()
            .textContent(),
        ).to.include('optinal')
        expect(await admin.getByRole('region', { name: 'routes.yaml' }).textContent()).to.not.include('optinal')
      },
    )
  })

  it('shows an error with its request id, and tries again', async () => {
    await admin.route('**/api/v1/models', (route) =>
      route.fulfill({
        status: 400,
        headers: { 'x-request-id': 'req_00000000000000000000000000000000' },
        json: { error: { message: 'The store is asleep.', type: 'server_error', param: null, code: 'asleep' } },
      }),
    )
    await admin.goto(fixture.address('/models'))
    await admin.getByText('The store is asleep.').waitFor()
    await admin.getByText('req_00000000000000000000000000000000').waitFor()
    await admin.unroute('**/api/v1/models')
    await admin.getByRole('button', { name: 'Try again' }).click()
    await admin.getByRole('cell', { name: 'acme/smart' }).first().waitFor()
  })
})
