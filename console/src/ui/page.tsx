import { Box, Group, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import styles from './page.module.css'

/** The head and the content of a page. */
export interface PageProps {
  readonly title: string
  /** One sentence: what the page is for. */
  readonly about?: ReactNode
  /** The page's own buttons. */
  readonly actions?: ReactNode
  readonly children: ReactNode
}

/** A page. Its title is the document's title too. */
export function Page({ title, about, actions, children }: PageProps) {
  useDocumentTitle(`${title} · Unified Model Gateway`)
  return (
    <Box className={styles.page}>
      <Group className={styles.top} justify="space-between" align="flex-start" gap="sm" mb="lg">
        <Box className={styles.head}>
          <Title order={1} size="h3">
            {title}
          </Title>
          {about !== undefined && (
            <Text size="sm" c="dimmed" mt={2}>
              {about}
            </Text>
          )}
        </Box>
        {actions !== undefined && (
          <Group gap="xs" wrap="nowrap">
            {actions}
          </Group>
        )}
      </Group>
      {children}
    </Box>
  )
}
