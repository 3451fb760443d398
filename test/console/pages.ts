import type { Page } from 'playwright-core'

/** A page of the console, and how tests open it. */
export interface ConsolePage {
  /** Also of its screenshots. */
  readonly name: string
  readonly path: string
  /** A text on the loaded page. */
  readonly shows: string
  /** Steps before the checks: opens a dialog, sends a message. */
  readonly prepare?: (page: Page) => Promise<void>
}

/** Waits for a dialog. */
const dialog = (page: Page, name: string) => page.getByRole('dialog', { name }).waitFor()

async function createKey(page: Page): Promise<void> {
  const form = page.getByRole('dialog', { name: 'Create an API key' })
  await form.getByRole('textbox', { name: 'Name' }).fill('shop window')
  await form.getByRole('button', { name: 'Create key' }).click()
  await dialog(page, 'Save your key')
}

async function chooseFromMenu(page: Page, item: string): Promise<void> {
  await page.getByRole('button', { name: 'Actions for search service' }).click()
  await page.getByRole('menuitem', { name: item }).click()
  await page.getByRole('dialog').waitFor()
}

/** C3: its list is longer than it is high. */
async function openJumps(page: Page): Promise<void> {
  await page.keyboard.press('Control+k')
  await page.locator('[aria-label="Go to"]:focus').waitFor()
}

/** C1 */
async function askAboutUser(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Actions for Mo Tester' }).click()
  await page.getByRole('menuitem', { name: 'Make an admin' }).click()
  await dialog(page, 'Make Mo Tester an admin')
}

async function ask(page: Page): Promise<void> {
  await page.getByRole('button', { name: 'Create a key for one hour' }).click()
  await page.getByText('A key for one hour', { exact: true }).waitFor()
  await page.getByRole('textbox', { name: 'Message', exact: true }).fill('Who are you?')
  await page.getByRole('textbox', { name: 'Message', exact: true }).press('Enter')
  await page.getByText(/^Finish/).waitFor()
}

async function openRequest(page: Page): Promise<void> {
  await page
    .getByRole('row', { name: /2 attempts/ })
    .first()
    .getByRole('link')
    .click()
  await page.getByRole('dialog', { name: 'Request' }).getByText('Overhead').waitFor()
}

/** The pages without a session. */
export const ENTRANCES: readonly ConsolePage[] = [
  { name: 'sign-in', path: '/sign-in', shows: 'Sign in' },
  { name: 'setup', path: '/setup#some-token', shows: 'Set up your gateway' },
  { name: 'invitation-used', path: '/invitation#some-token', shows: 'This invitation cannot be used' },
]

/** The pages for admins, with their dialogs. */
export const PAGES: readonly ConsolePage[] = [
  { name: 'keys', path: '/keys', shows: 'search service' },
  { name: 'keys-create', path: '/keys?new=1', shows: 'Create an API key' },
  { name: 'keys-save', path: '/keys?new=1', shows: 'Create an API key', prepare: createKey },
  { name: 'keys-rotate', path: '/keys?q=search', shows: 'search service', prepare: (page) => chooseFromMenu(page, 'Rotate') },
  { name: 'keys-revoke', path: '/keys?q=search', shows: 'search service', prepare: (page) => chooseFromMenu(page, 'Revoke') },
  { name: 'keys-none', path: '/keys?q=nothing+is+called+that', shows: 'No matching keys' },
  { name: 'jumps', path: '/keys', shows: 'search service', prepare: openJumps },
  { name: 'connect', path: '/connect?client=node&model=acme/smart', shows: 'In your code' },
  { name: 'models', path: '/models', shows: 'openai/gpt-5.5' },
  { name: 'playground', path: '/playground?model=acme/smart', shows: 'Send a message', prepare: ask },
  { name: 'usage', path: '/usage?range=30d', shows: 'openai/o4-mini' },
  { name: 'requests', path: '/requests?range=30d', shows: 'Tokens out' },
  { name: 'request', path: '/requests?range=30d', shows: '2 attempts', prepare: openRequest },
  { name: 'requests-live', path: '/requests?live=1', shows: 'Following' },
  { name: 'accounts', path: '/accounts', shows: 'Field team' },
  { name: 'users', path: '/accounts?tab=users', shows: 'ada@example.com' },
  { name: 'user-question', path: '/accounts?tab=users', shows: 'ada@example.com', prepare: askAboutUser },
  { name: 'invitations', path: '/accounts?tab=invitations', shows: 'lin@example.com' },
  { name: 'routes', path: '/routes', shows: 'acme/smart' },
  { name: 'config', path: '/config', shows: 'in use since' },
  { name: 'audit', path: '/audit', shows: 'key.revoke' },
  { name: 'api', path: '/api', shows: 'OpenAPI' },
  { name: 'profile', path: '/profile', shows: 'Sign out everywhere' },
  { name: 'not-found', path: '/no-such-page', shows: 'There is no page at this address' },
]
