import type { ReactNode } from 'react'
import styles from './filter-bar.module.css'

/** Filters in a row above a list; on a phone in two columns, search fields at full width. */
export function FilterBar({ children }: { readonly children: ReactNode }) {
  return (
    <search className={styles.bar} aria-label="Filters">
      {children}
    </search>
  )
}
