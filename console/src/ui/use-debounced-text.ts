import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'

const PAUSE_MS = 250

/** The state of a text field: calls `onText` after a pause in typing, and follows `value`. */
export function useDebouncedText(value: string, onText: (text: string) => void): readonly [string, (text: string) => void] {
  const [text, setText] = useState(value)
  const notify = useDebouncedCallback(onText, PAUSE_MS)
  useEffect(() => setText(value), [value])
  function change(next: string): void {
    setText(next)
    notify(next)
  }
  return [text, change]
}
