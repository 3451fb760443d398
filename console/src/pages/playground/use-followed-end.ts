import { useWindowEvent } from '@mantine/hooks'
import { useLayoutEffect, useRef } from 'react'

/** Pixels above the end of the page within which its reader follows it. */
const NEAR = 120

const isAtEnd = (): boolean => window.innerHeight + window.scrollY >= document.documentElement.scrollHeight - NEAR

/** As an answer grows, keeps the end of the page in sight, unless the reader has scrolled up. `shown`: changes with the answer. */
export function useFollowedEnd(running: boolean, shown: unknown): void {
  const follows = useRef(true)
  useWindowEvent('scroll', () => {
    follows.current = isAtEnd()
  })
  useLayoutEffect(() => {
    if (running) follows.current = true
  }, [running])
  useLayoutEffect(() => {
    // Once more when the answer has ended, and its facts are below it.
    if (follows.current) window.scrollTo({ top: document.documentElement.scrollHeight })
  }, [running, shown])
}
