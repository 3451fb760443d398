import type { Page } from 'playwright-core'

/**
 * Collects all elements that a pointer can use, in the open dialog if there is one; of radio buttons the checked one. Then records the
 * elements that get the focus. Returns the number of collected elements.
 */
const COLLECT_ELEMENTS = `(() => {
  const within = document.querySelector('[role="dialog"]') ?? document
  const usable = [...within.querySelectorAll('a[href], button, input, select, textarea, summary')].filter((element) =>
    !element.disabled && element.checkVisibility({ visibilityProperty: true }) && element.closest('[inert], [aria-hidden="true"]') === null
    && (element.type !== 'radio' || element.checked) && (element.role !== 'tab' || element.ariaSelected === 'true')
    // Controls of Mantine that duplicate keys of their field.
    && !element.matches('.mantine-NumberInput-control, .mantine-PasswordInput-visibilityToggle, .mantine-InputClearButton-root')
  )
  window.reached = new Set([document.activeElement])
  document.addEventListener('focusin', ({ target }) => window.reached.add(target))
  window.usable = usable
  return usable.length
})()`

const MISSED = 'usable.filter((element) => !reached.has(element)).map((element) => element.outerHTML.slice(0, 200))'

/** Additional tab stops: scrollable regions. */
const SPARE = 12

/** The elements that a pointer can use, but the Tab key cannot reach. */
export async function beyondTab(page: Page): Promise<string[]> {
  const count = await page.evaluate<number>(COLLECT_ELEMENTS)
  for (let press = 0; press < count + SPARE; press++) await page.keyboard.press('Tab')
  return page.evaluate<string[]>(MISSED)
}
