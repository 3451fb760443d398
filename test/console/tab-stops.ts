import type { Page } from 'playwright-core'

/**
 * Numbers everything that a pointer could use, of a dialog where one is open; of a group of radio buttons the chosen one stands for all.
 * From then on notes what gets the focus. Gives how many there are.
 */
const NUMBER_THEM = `(() => {
  const within = document.querySelector('[role="dialog"]') ?? document
  const usable = [...within.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((element) =>
    !element.disabled && element.checkVisibility({ visibilityProperty: true }) && element.closest('[inert], [aria-hidden="true"]') === null
    && (element.type !== 'radio' || element.checked) && (element.role !== 'tab' || element.ariaSelected === 'true')
    // Mantine's own: the field beside it does the same by arrow keys, or by a screen reader's own command.
    && !element.matches('.mantine-NumberInput-control, .mantine-PasswordInput-visibilityToggle, .mantine-InputClearButton-root')
  )
  window.reached = new Set([document.activeElement])
  document.addEventListener('focusin', ({ target }) => window.reached.add(target))
  window.usable = usable
  return usable.length
})()`

const MISSED = 'usable.filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 200))'

/** Other stops than those: what scrolls. */
const SPARE = 12

/** What can be used on the page, but not be reached by the Tab key. */
export async function beyondTab(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(NUMBER_THEM)
  for (let press = 0; press < count + SPARE; press++) await page.keyboard.press('Tab')
  return page.evaluate<string[]>(MISSED)
}
