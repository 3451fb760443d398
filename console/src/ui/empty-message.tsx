import { EmptyState } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './empty-message.module.css'

/** Says why a list is empty, and what to do. */
export interface EmptyMessageProps {
  readonly icon: Icon
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** The content of an empty list. */
export function EmptyMessage({ icon: Icon, title, children, action }: EmptyMessageProps) {
  return (
    <EmptyState
      className={styles.frame}
      size="sm"
      icon={<Icon size={22} />}
      withIndicatorBackground
      title={title}
      description={children}
    >
      {action !== undefined && <EmptyState.Actions>{action}</EmptyState.Actions>}
    </EmptyState>
  )
}
