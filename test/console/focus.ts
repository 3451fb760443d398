import type { Page } from 'playwright-core'

const FOCUSED = `(() => {
  const { ariaLabel, textContent, localName, id, labels } = document.activeElement
  if (localName === 'body') return 'nothing'
  return id === 'page' ? 'the page' : (ariaLabel ?? (labels?.[0] ?? { textContent }).textContent.trim())
})()`

const HAS_FOCUS = 'document.activeElement !== document.body'

/** An overlay may give the focus back a moment after it was closed. Milliseconds. */
const PATIENCE = { timeout: 2_000 }

/** The name of the focused element; 'nothing' if the focus is lost. */
export async function focused(page: Page): Promise<string> {
  await page.waitForFunction(HAS_FOCUS, undefined, PATIENCE).catch(() => undefined)
  return page.evaluate<string>(FOCUSED)
}
