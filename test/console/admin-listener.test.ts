import { expect } from 'chai'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, PUBLIC_URL, startConsole } from './fixture.ts'
import { signInAsAdmin } from './management.ts'

describeInBrowser('the console on the admin listener', (open) => {
  let fixture: ConsoleFixture

  before(async () => {
    fixture = await startConsole({ adminListen: true })
  })

  after(() => fixture?.stop())

  it('has a playground that streams, and shows the code for the public address', async () => {
    const page = await open()
    await signInAsAdmin(page, fixture)
    await page.goto(fixture.address('/playground?model=acme/smart'))
    await page.getByRole('button', { name: 'Create a key for one hour' }).click()
    await page.getByText('A key for one hour', { exact: true }).waitFor()
    await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Who are you?')
    await page.getByRole('textbox', { name: 'Message', exact: true }).press('Enter')
    await page.getByText('Hello from far away.', { exact: true }).waitFor()
    await page.getByText(/^Finish/).waitFor()
    await page.getByRole('tab', { name: 'Raw' }).click()
    expect(await page.getByRole('region', { name: 'raw reply' }).textContent()).to.match(/^data: \{.*data: \[DONE\]\n\n$/s)
    await page.getByRole('tab', { name: 'Code' }).click()
    expect(await page.getByRole('region', { name: 'curl code' }).textContent()).to.include(
      `curl ${PUBLIC_URL}/v1/chat/completions`,
    )
    expect((await fetch(`${fixture.gateway.url}/console`)).status, 'the console on the public listener').to.equal(404)
  })
})
