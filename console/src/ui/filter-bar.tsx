import type { ReactNode } from 'react'
import styles from './filter-bar.module.css'

/** Fields side by side above a list; on a phone two by two, searches as wide as the screen. */
export function FilterBar({ children }: { readonly children: ReactNode }) {
  return (
    <search className={styles.bar} aria-label="Filters">
      {children}
    </search>
  )
}
