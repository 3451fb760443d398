import { useEffect, useRef } from 'react'
import { PAGE } from '../ui/use-focus-return.ts'

/** How many elements are remembered. */
const REMEMBERED = 10

/** What removes an element may focus another one itself, such as a dialog that closes. Milliseconds. */
const SETTLED_MS = 50

/**
 * Keeps the focus from being lost: if the focused element is removed, and nothing else takes the focus, it goes to the element that had
 * it before, or after a change of the page to the page.
 */
export function useKeptFocus(pathname: string): void {
  /** Those that had the focus on this page, the last one first. */
  const way = useRef<readonly HTMLElement[]>([])

  useEffect(() => {
    way.current = []
  }, [pathname])

  useEffect(() => {
    let last: HTMLElement | undefined
    let timer: number | undefined
    function remember({ target }: FocusEvent): void {
      last = target as HTMLElement
      way.current = [last, ...way.current.filter((element) => element !== last)].slice(0, REMEMBERED)
    }
    const isLost = (): boolean => last?.isConnected === false && document.activeElement === document.body
    const watch = new MutationObserver(() => {
      if (!isLost()) return
      window.clearTimeout(timer)
      timer = window.setTimeout(() => isLost() && focusOneOf(way.current), SETTLED_MS)
    })
    document.addEventListener('focusin', remember)
    watch.observe(document.body, { childList: true, subtree: true })
    return () => {
      document.removeEventListener('focusin', remember)
      watch.disconnect()
      window.clearTimeout(timer)
    }
  }, [])
}

/** An open dialog keeps the focus within itself. */
function focusOneOf(way: readonly HTMLElement[]): void {
  const dialog = [...document.querySelectorAll<HTMLElement>('[role="dialog"]')].at(-1)
  const within = dialog ?? document.body
  const target = way.find((element) => element.checkVisibility({ visibilityProperty: true }) && within.contains(element))
  ;(target ?? dialog ?? document.getElementById(PAGE))?.focus({ preventScroll: true })
}
