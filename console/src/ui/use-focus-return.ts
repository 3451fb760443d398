import { useLayoutEffect, useState } from 'react'

/** The id of the element that has the content of the page. */
export const PAGE = 'page'

/**
 * For what opens over the page: when it is unmounted, the focus returns to the element that opened it, or if that is gone, to its row,
 * or else to the page.
 */
export function useFocusReturn(): void {
  // Before the commit that closes a menu removes its items.
  const [opener] = useState(openerOutsideDialogs)
  useLayoutEffect(() => {
    // Where one dialog follows another, the first has given the focus back by now; where it stays open, its element is the opener.
    const way = wayBack(opener ?? document.activeElement)
    return () => focusFirst(way)
  }, [opener])
}

/** The focused element, or of a menu the button that opened it; undefined within a dialog. */
function openerOutsideDialogs(): Element | undefined {
  const focused = document.activeElement
  if (focused === null || focused.closest('[role="dialog"]') !== null) return undefined
  const menu = focused.closest('[role="menu"]')
  return menu === null ? focused : (document.getElementById(menu.getAttribute('aria-labelledby') ?? '') ?? undefined)
}

const wayBack = (opener: Element | null): readonly Element[] =>
  [opener, opener?.closest('tr')].filter((element) => element != null && element !== document.body) as Element[]

function focusFirst(way: readonly Element[]): void {
  const index = way.findIndex((element) => element.isConnected && element.checkVisibility())
  const target = way[index] ?? document.getElementById(PAGE)
  if (!(target instanceof HTMLElement)) return
  if (target instanceof HTMLTableRowElement) target.tabIndex = -1
  target.focus({ preventScroll: true })
  if (index >= 0) onLost(target, () => focusFirst(way.slice(index + 1)))
}

/** Calls `act` if an element is removed while it has the focus: a list may lose its row a moment after the change that removed it. */
function onLost(element: HTMLElement, act: () => void): void {
  const watch = new MutationObserver(() => {
    if (element.isConnected) return
    watch.disconnect()
    if (document.activeElement === document.body) act()
  })
  watch.observe(document.body, { childList: true, subtree: true })
  document.addEventListener('focusin', () => watch.disconnect(), { once: true })
}
