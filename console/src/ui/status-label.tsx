import type { ReactNode } from 'react'
import styles from './status-label.module.css'

/** The tone of a state. */
export type Tone = 'good' | 'warning' | 'bad' | 'quiet'

/** A state as a word with a colored dot: never by color alone. */
export function StatusLabel({ tone, children }: { readonly tone: Tone; readonly children: ReactNode }) {
  return (
    <span className={styles.label}>
      <span className={`${styles.dot} ${styles[tone]}`} aria-hidden="true" />
      {children}
    </span>
  )
}
