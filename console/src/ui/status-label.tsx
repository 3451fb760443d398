import type { ReactNode } from 'react'
import styles from './status-label.module.css'

/** How something is doing. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet'

/** A state in a word, with a dot of its colour: never the colour alone. */
export function StatusLabel({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={styles.label}>
      <span className={`${styles.dot} ${styles[tone]}`} aria-hidden="true" />
      {children}
    </span>
  )
}
