import type { Page } from 'playwright-core'

/** Controls beyond the sides of the window, or of what cuts them off or must be scrolled sideways to them. */
const CLIPPED = `[...document.querySelectorAll('main :is(a, button, input, select, textarea)')].filter((control) => {
  const { left, right, width } = control.getBoundingClientRect()
  if (width < 2 || !control.checkVisibility({ visibilityProperty: true, opacityProperty: true })) return false
  for (let around = control.parentElement; around !== null; around = around.parentElement) {
    const box = around.getBoundingClientRect()
    if (getComputedStyle(around).overflowX !== 'visible' && (left < box.left - 1 || right > box.right + 1)) return true
  }
  return left < -1 || right > innerWidth + 1
}).map(({ outerHTML }) => outerHTML.slice(0, 200))`

/** The controls of a page that are not within the window from side to side. */
export const clippedControls = (page: Page): Promise<string[]> => page.evaluate<string[]>(CLIPPED)
