import { useRef, useState } from 'react'
import { copyText } from './copy-text.ts'

const SHOWN_MS = 1500

/** Copies a text; the state says for a moment whether that succeeded. */
export function useCopied() {
  const [state, setState] = useState<'idle' | 'copied' | 'failed'>('idle')
  const timer = useRef<number>(undefined)
  async function copy(text: string): Promise<void> {
    setState((await copyText(text)) ? 'copied' : 'failed')
    window.clearTimeout(timer.current)
    timer.current = window.setTimeout(() => setState('idle'), SHOWN_MS)
  }
  return { state, copy }
}
