import type { Page } from 'playwright-core'

/**
 * Numbers everything that a pointer could use, of a dialog where one is open; of a group of radio buttons the chosen one stands for all.
 * Gives how many there are.
 */
const NUMBER_THEM = `(() => {
  const within = document.querySelector('[role="dialog"]') ?? document
  const usable = [...within.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((element) =>
    !element.disabled && element.checkVisibility({ visibilityProperty: true }) && element.closest('[inert], [aria-hidden="true"]') === null
    && (element.type !== 'radio' || element.checked) && (element.role !== 'tab' || element.ariaSelected === 'true')
    // Mantine's own: the field beside it does the same by arrow keys, or by a screen reader's own command.
    && !element.matches('.mantine-NumberInput-control, .mantine-PasswordInput-visibilityToggle, .mantine-InputClearButton-root')
  )
  for (const [index, element] of usable.entries()) element.dataset.stop = String(index)
  return usable.length
})()`

const FOCUSED = `document.activeElement?.dataset.stop`
const HTML_OF = (stop: number): string => `document.querySelector('[data-stop="${stop}"]')?.outerHTML.slice(0, 200)`

/** Other stops than those: what scrolls. */
const SPARE = 12

/** What can be used on the page, but not be reached by the Tab key. */
export async function beyondTab(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(NUMBER_THEM)
  const reached = new Set<number>()
  for (let press = 0; press < count + SPARE && reached.size < count; press++) {
    await page.keyboard.press('Tab')
    const stop = await page.evaluate<string | undefined>(FOCUSED)
    if (stop !== undefined) reached.add(Number(stop))
  }
  const missed = Array.from({ length: count }, (_, stop) => stop).filter((stop) => !reached.has(stop))
  return Promise.all(missed.map((stop) => page.evaluate<string>(HTML_OF(stop))))
}
