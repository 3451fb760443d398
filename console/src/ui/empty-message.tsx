import { EmptyState } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'
import type { ReactNode } from 'react'
import styles from './empty-message.module.css'

/** Instead of nothing: why there is none, and what to do next. */
export interface EmptyMessageProps {
  readonly icon: Icon
  readonly title: string
  readonly children?: ReactNode
  readonly action?: ReactNode
}

/** What a list shows while it has no rows. */
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
