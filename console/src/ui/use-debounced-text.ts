import { useDebouncedCallback } from '@mantine/hooks'
import { useEffect, useState } from 'react'

const PAUSE_MS = 250

/** The text of a field that tells of it after a pause in typing, and follows what the address says. */
export function useDebouncedText(value: string, onText: (text: string) => void): readonly [string, (text: string) => void] {
  const [text, setText] = useState(value)
  const tell = useDebouncedCallback(onText, PAUSE_MS)
  useEffect(() => setText(value), [value])
  function change(next: string): void {
    setText(next)
    tell(next)
  }
  return [text, change]
}
