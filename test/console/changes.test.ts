import { expect } from 'chai'
import type { Page } from 'playwright-core'
import { accessibilityViolations } from './accessibility.ts'
import { describeInBrowser } from './browser.ts'
import { type ConsoleFixture, recorded, startConsole } from './fixture.ts'
import { focused } from './focus.ts'
import { type Management, MEMBER, signInAsAdmin, signInAsMember } from './management.ts'

// The numbers are those of the findings of a review of the console.
describeInBrowser('a change in the console', (open) => {
  let fixture: ConsoleFixture
  let page: Page
  let admin: Management

  before(async () => {
    fixture = await startConsole()
    page = await open({ reducedMotion: 'reduce' })
    admin = await signInAsAdmin(page, fixture)
    await signInAsMember(admin, await open(), fixture)
  })

  after(() => fixture?.stop())

  const dialog = (name: string) => page.getByRole('dialog', { name })

  async function choose(name: string, item: string): Promise<void> {
    await page
      .getByRole('button', { name: `Actions for ${name}` })
      .first()
      .click()
    await page.getByRole('menuitem', { name: item }).click()
  }

  const person = () =>
    fixture.gateway.store.db
      .selectFrom('users')
      .select(['role', 'disabled_at'])
      .where('email', '=', MEMBER.email)
      .executeTakeFirstOrThrow()

  // C1
  for (const { item, title, action, effect, message, before, after } of [
    {
      item: 'Make an admin…',
      title: `Make ${MEMBER.name} an admin`,
      action: 'Make an admin',
      effect: 'Admins see and change everything on this gateway',
      message: `${MEMBER.name} is an admin now.`,
      before: { role: 'member' },
      after: { role: 'admin' },
    },
    {
      item: 'Disable…',
      title: `Disable ${MEMBER.name}`,
      action: 'Disable',
      effect: 'cannot sign in',
      message: `${MEMBER.name} is disabled.`,
      before: { disabled: false },
      after: { disabled: true },
    },
  ])
    it(`to a user (${action}) is asked for with its effect and the person, confirmed by a message, and can be undone`, async () => {
      const is = async () => {
        const { role, disabled_at } = await person()
        return { role, disabled: disabled_at !== null }
      }
      await page.goto(fixture.address('/accounts?tab=users'))
      await choose(MEMBER.name, item)
      await dialog(title).getByText(effect).waitFor()
      await dialog(title).getByText(MEMBER.email).waitFor()
      expect(await is(), 'before the answer').to.include(before)
      expect(await focused(page), 'the focus in the question').to.equal('Cancel')
      await dialog(title).getByRole('button', { name: action }).click()
      await page.getByRole('status').getByText(message).waitFor()
      expect(await is()).to.include(after)
      expect(await focused(page), 'the focus (C3)').to.equal(`Actions for ${MEMBER.name}`)
      await page.getByRole('status').getByRole('button', { name: 'Undo' }).click()
      await page
        .getByRole('status')
        .getByText(/^Undone/)
        .waitFor()
      expect(await is()).to.include(before)
    })

  // M8
  it('that disables a user offers to revoke the keys that the user created, and says that this cannot be undone', async () => {
    const { db } = fixture.gateway.store
    const { id } = await db.selectFrom('users').select('id').where('email', '=', MEMBER.email).executeTakeFirstOrThrow()
    const { id: key } = await admin.post<{ id: string }>('/keys', { name: 'of the member', kind: 'live' })
    await db.updateTable('keys').set({ created_by: id }).where('id', '=', key).execute()
    await page.goto(fixture.address('/accounts?tab=users'))
    await choose(MEMBER.name, 'Disable…')
    await dialog(`Disable ${MEMBER.name}`).getByText('This cannot be undone.').waitFor()
    await dialog(`Disable ${MEMBER.name}`).getByLabel('Also revoke the active key that the user created').check()
    expect(await accessibilityViolations(page, 'all')).to.deep.equal([])
    await dialog(`Disable ${MEMBER.name}`).getByRole('button', { name: 'Disable' }).click()
    const message = page.getByRole('status').filter({ hasText: `${MEMBER.name} is disabled, and the keys are revoked.` })
    await message.waitFor()
    expect(await message.getByRole('button', { name: 'Undo' }).count()).to.equal(0)
    const { revoked_at } = await db.selectFrom('keys').select('revoked_at').where('id', '=', key).executeTakeFirstOrThrow()
    expect(revoked_at).to.not.equal(null)
    await admin.patch(`/users/${id}`, { disabled: false })
  })

  // C1
  it('of an invitation is asked for: who cannot join any more', async () => {
    await admin.post('/invitations', { email: 'lin@example.com', role: 'member', account_id: 'default' })
    await page.goto(fixture.address('/accounts?tab=invitations'))
    await page.getByRole('button', { name: 'Withdraw the invitation for lin@example.com' }).click()
    const question = dialog('Withdraw an invitation')
    await question.getByText('lin@example.com').waitFor()
    await question.getByRole('button', { name: 'Withdraw' }).click()
    await page.getByRole('status').getByText('Withdrew the invitation for lin@example.com.').waitFor()
    await page.getByText('No open invitations').waitFor()
    expect(await page.evaluate('document.activeElement.id'), 'the focus').to.equal('page')
  })

  // C3
  it('gives the focus back to where it came from', async () => {
    await page.goto(fixture.address('/keys'))
    await page.getByRole('button', { name: 'Create key' }).click()
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).fill('batch')
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).press('Enter')
    await dialog('Save your key').getByLabel('I have saved this key').check()
    await dialog('Save your key').getByRole('button', { name: 'Done' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page), 'after creating and saving').to.equal('Create key')
    await choose('batch', 'Edit')
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page), 'after editing').to.equal('Actions for batch')
    await choose('batch', 'Rotate')
    await dialog('Rotate batch').locator('[type="radio"]:focus').waitFor()
    await page.keyboard.press('Escape')
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await focused(page), 'after rotating').to.equal('Actions for batch')
  })

  // C2
  it('of a key names it by its masked secret, and its last use now', async () => {
    const { id, secret, masked } = await admin.post<{ id: string; secret: string; masked: string }>('/keys', {
      name: 'nightly batch',
      kind: 'live',
    })
    await page.goto(fixture.address('/keys'))
    await page.getByRole('cell', { name: `Live ${masked}` }).waitFor()
    const call = { key: secret, json: { model: 'acme/fast', messages: [{ role: 'user', content: 'Hi' }] } }
    const response = await fixture.gateway.fetch('/v1/chat/completions', call)
    await fixture.gateway.logged((line) => line.id === response.headers.get('x-request-id'))
    await recorded(fixture.gateway.store, 'key_id', id)
    await choose('nightly batch', 'Revoke')
    await dialog('Revoke nightly batch').getByText(masked).waitFor()
    await dialog('Revoke nightly batch')
      .getByText(/It was last used just now/)
      .waitFor()
    await page.keyboard.press('Escape')
  })

  // C2
  it('of a rotated key shows both secrets as one key', async () => {
    await choose('nightly batch', 'Rotate')
    await dialog('Rotate nightly batch').getByRole('button', { name: 'Rotate key' }).click()
    await dialog('Save your key').getByLabel('I have saved this key').check()
    await dialog('Save your key').getByRole('button', { name: 'Done' }).click()
    const [key] = await fixture.gateway.store.db.selectFrom('keys').selectAll().where('replaced_by', 'is not', null).execute()
    const old = `${key!.prefix_shown}…${key!.last_four}`
    await page.getByText(`New secret, in place of ${old}`).waitFor()
    await page
      .getByText(/^Old secret, replaced by/)
      .getByRole('link')
      .click()
    await page.waitForURL(`**/keys?q=${key!.id}`)
    await page.getByRole('row', { name: /^Choose batch/ }).waitFor({ state: 'detached' })
    expect(await page.getByRole('row').count(), 'the head and both secrets').to.equal(3)
    await page
      .getByRole('row', { name: /Old secret/ })
      .getByRole('button', { name: 'Actions' })
      .click()
    await page.getByRole('menuitem', { name: 'Revoke' }).click()
    await dialog('Revoke nightly batch').getByText('the new one keeps working').waitFor()
    await dialog('Revoke nightly batch').getByRole('textbox').fill('nightly batch')
    await dialog('Revoke nightly batch').getByRole('textbox').press('Enter')
    await page.getByRole('status').getByText(`Revoked nightly batch (${old}).`).waitFor()
    expect(await focused(page), 'the row without its menu').to.include(old)
  })

  it('of several keys is one question that names each of them, and says which could not be revoked', async () => {
    const keys: { id: string; masked: string }[] = []
    for (const name of ['leaked one', 'leaked two', 'leaked three'])
      keys.push(await admin.post('/keys', { name, kind: 'live', tags: { team: 'leaks' } }))
    await page.goto(fixture.address('/keys?q=team%3Dleaks'))
    await page.getByText('3 keys', { exact: true }).waitFor()
    await page.getByRole('checkbox', { name: /^Choose leaked one/ }).focus()
    await page.keyboard.press('Space')
    await page.getByText('1 of 3 keys chosen').waitFor()
    await page.getByRole('checkbox', { name: 'Choose all that are shown' }).check()
    await page.getByText('3 of 3 keys chosen').waitFor()
    await page.getByRole('button', { name: 'Revoke…' }).click()
    const question = dialog('Revoke 3 keys')
    for (const { masked } of keys) await question.getByText(masked).waitFor()
    await question.getByText('are refused from the next request on').waitFor()
    expect(await question.getByRole('button', { name: 'Revoke 3 keys' }).isDisabled()).to.equal(true)
    await page.route(`**/keys/${keys[1]!.id}/revoke`, (route) =>
      route.fulfill({ status: 503, json: { error: { message: 'The database is locked.', code: 'storage_busy' } } }),
    )
    await page.keyboard.type('revoke')
    await page.keyboard.press('Enter')
    const rest = dialog('Revoke 1 key')
    await rest.getByRole('alert').getByText('2 of 3 keys are revoked').waitFor()
    await rest.getByText('Not revoked: The database is locked.').waitFor()
    expect(await rest.getByText(keys[0]!.masked).count(), 'a revoked key in the question').to.equal(0)
    await page.unroute(`**/keys/${keys[1]!.id}/revoke`)
    await rest.getByRole('button', { name: 'Revoke 1 key' }).click()
    await page
      .getByRole('status')
      .getByText(/^Revoked 3 keys: /)
      .waitFor()
    const { db } = fixture.gateway.store
    const revoked = await db.selectFrom('keys').select('name').where('revoked_at', 'is not', null).execute()
    expect(revoked.map(({ name }) => name)).to.include.members(['leaked one', 'leaked two', 'leaked three'])
    await page.getByRole('dialog').waitFor({ state: 'detached' })
    expect(await page.evaluate('document.activeElement.id'), 'the focus').to.equal('page')
    await page.getByRole('checkbox', { name: /^Choose leaked/ }).waitFor({ state: 'detached' })
  })

  // C5
  it('is still in its form after the session has expired', async () => {
    await page.goto(fixture.address('/keys?new=1'))
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).fill('kept')
    await fixture.gateway.store.db.deleteFrom('sessions').execute()
    await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).press('Enter')
    const again = dialog('Your session has expired')
    await again.getByText('ada@example.com').waitFor()
    await again.getByRole('textbox', { name: 'Password' }).fill('correct horse battery')
    await again.getByRole('textbox', { name: 'Password' }).press('Enter')
    await again.waitFor({ state: 'detached' })
    expect(await dialog('Create an API key').getByRole('textbox', { name: 'Name' }).inputValue()).to.equal('kept')
    await dialog('Create an API key').getByRole('button', { name: 'Create key' }).click()
    await dialog('Save your key').getByText('kept').waitFor()
  })
})
