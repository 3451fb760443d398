import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, PUBLIC_URL, startConsole } from './fixture.ts'
import { signInAsAdmin, signInAsMember } from './management.ts'

const IS_AT_END = 'innerHeight + scrollY >= document.documentElement.scrollHeight - 2'

describeInBrowser('the playground', (open) => {
  let fixture: ConsoleFixture
  let member: Page

  before(async () => {
    fixture = await startConsole()
    member = await open({ reducedMotion: 'reduce' })
    await signInAsMember(await signInAsAdmin(await open(), fixture), member, fixture)
  })

  after(() => fixture?.stop())

  const write = async (text: string): Promise<void> => {
    await member.getByRole('textbox', { name: 'Message', exact: true }).fill(text)
    await member.getByRole('textbox', { name: 'Message', exact: true }).press('Enter')
  }

  it('calls with a pasted key, which is not in the DOM', async () => {
    await member.goto(fixture.address('/playground?model=sandbox/echo'))
    await member.getByRole('textbox', { name: 'Or paste a key' }).fill(fixture.gateway.liveKey)
    await write('Just an echo')
    await member.getByText('Served by sandbox/echo').waitFor()
    expect(await member.getByText('Just an echo').count()).to.be.at.least(2)
    expect(await member.content()).to.not.include(fixture.gateway.liveKey)
  })

  it('shows the raw events, and the request as code without the key', async () => {
    await member.getByRole('tab', { name: 'Raw' }).click()
    const raw = member.getByRole('region', { name: 'raw reply' })
    expect(await raw.textContent())
      .to.match(/^data: \{.*\}\n\n/)
      .and.match(/data: \[DONE\]\n\n$/)
    await member.getByRole('tab', { name: 'Code' }).click()
    await member.getByText('Python').click()
    const code = await member.getByRole('region', { name: 'Python code' }).textContent()
    expect(code).to.include(`base_url="${PUBLIC_URL}/v1"`).and.include('stream=True').and.not.include('sk-live')
    await member.getByRole('tab', { name: 'Conversation' }).click()
  })

  it('stops a reply', async () => {
    await write('sandbox: stall=1')
    await member.getByRole('button', { name: 'Stop' }).click()
    await member.getByText('Stopped.').waitFor()
    await fixture.gateway.logged(({ outcome }) => outcome === 'client_closed')
  })

  it('says why a reply broke off, as the gateway says it', async () => {
    await write('sandbox: chunks=5 cut=3')
    await member.getByRole('alert').getByText('The upstream closed the connection before its reply was complete.').waitFor()
  })

  it("shows the gateway's message for a refused call", async () => {
    await write('sandbox: status=429')
    await member.getByRole('alert').getByText(/./).last().waitFor()
    await member.getByText('Status 429').waitFor()
  })

  /** The roles of the messages in the code of the last request. */
  async function rolesInCode(): Promise<string[]> {
    await member.getByRole('tab', { name: 'Code' }).click()
    await member.getByText('Node.js').click()
    const code = await member.getByRole('region', { name: 'Node.js code' }).textContent()
    await member.getByRole('tab', { name: 'Conversation' }).click()
    return Array.from(code!.matchAll(/"role": "(\w+)"/g), ([, role]) => role!)
  }

  // C6
  it('keeps a stopped answer, and sends it with the next message', async () => {
    await begin('sandbox/hello')
    await write('sandbox: stall=3')
    const begun = member.getByText(/^Hello from/)
    await begun.waitFor()
    const partial = (await begun.textContent())!.trim()
    await member.getByRole('button', { name: 'Stop' }).click()
    await member.getByText('Stopped.').waitFor()
    await write('Go on')
    await member.getByText(/^Finish/).waitFor()
    await member.getByText(partial, { exact: true }).waitFor()
    expect(await rolesInCode()).to.deep.equal(['user', 'assistant', 'user'])
  })

  // C6
  it('repeats and deletes a message that failed, which is not sent with the next one', async () => {
    await begin('sandbox/echo')
    await write('sandbox: status=503')
    await member.getByText('Status 503').waitFor()
    expect(await member.getByRole('alert').textContent()).to.include('is left out of later requests')
    const [retried] = await Promise.all([
      member.waitForRequest('**/v1/chat/completions'),
      member.getByRole('button', { name: 'Retry' }).click(),
    ])
    expect(retried.postDataJSON().messages).to.deep.equal([{ role: 'user', content: 'sandbox: status=503' }])
    await member.getByText('Status 503').waitFor()
    await write('Again')
    await member.getByText(/^Finish/).waitFor()
    expect(await rolesInCode()).to.deep.equal(['user'])
    await member.getByRole('button', { name: 'Delete' }).first().click()
    expect(await member.getByRole('alert').count()).to.equal(0)
    const again = member.getByText('Again', { exact: true })
    expect(await again.count(), 'the message and its answer').to.equal(2)
    const undo = member.getByRole('status').getByRole('button', { name: 'Undo' })
    await undo.click()
    await member.getByText('sandbox: status=503', { exact: true }).waitFor()
    expect(await member.getByRole('button', { name: 'Delete' }).count()).to.equal(2)
    await member.getByRole('button', { name: 'New conversation' }).click()
    await member.getByText('Send a message').waitFor()
    await undo.click()
    expect(await again.count()).to.equal(2)
    expect(await member.getByRole('button', { name: 'Delete' }).count()).to.equal(2)
  })

  // C6
  it('keeps the reasoning after the answer', async () => {
    await begin('sandbox/reasoner')
    await write('Think')
    await member.getByText(/^Finish/).waitFor()
    await member.getByText('Reasoning', { exact: true }).click()
    await member.getByText('I answer from the sandbox.').waitFor()
  })

  // C6
  it('follows a long answer', async () => {
    await begin('sandbox/hello')
    await write('sandbox: chunks=4000')
    await member.getByText(/^Finish/).waitFor()
    while (!(await member.evaluate(IS_AT_END)));
    expect(await member.evaluate<number>('scrollY')).to.be.above(500)
  })

  // C6
  it('leaves no key behind when its page is closed', async () => {
    await member.goto(fixture.address('/playground'))
    await member.getByRole('button', { name: 'Create a key for one hour' }).click()
    await member.getByText('Closing or reloading the page revokes it.').waitFor()
    await member.goto(fixture.address('/keys'))
    await member.getByRole('row', { name: /Playground.*Revoked/ }).waitFor()
  })

  it('sends a message that was written while the key was created', async () => {
    const { promise: written, resolve: go } = Promise.withResolvers<void>()
    await member.route('**/api/v1/keys', async (route) => {
      await written
      await route.continue()
    })
    await member.goto(fixture.address('/playground?model=sandbox/echo'))
    await member.getByRole('button', { name: 'Create a key for one hour' }).click()
    await write('Soon')
    await member.getByText('Sent as soon as the key is created').waitFor()
    go()
    await member.getByText(/^Finish/).waitFor()
    expect(await member.getByText('Soon', { exact: true }).count(), 'the message and its answer').to.equal(2)
    await member.unroute('**/api/v1/keys')
  })

  /** Opens the page for a model, with the key of the fixture. */
  async function begin(model: string): Promise<void> {
    await member.goto(fixture.address(`/playground?model=${model}`))
    await member.getByRole('textbox', { name: 'Or paste a key' }).fill(fixture.gateway.liveKey)
  }
})
