import { Box, Paper, Text, Title } from '@mantine/core'
import { useDocumentTitle } from '@mantine/hooks'
import type { ReactNode } from 'react'
import styles from './auth-card.module.css'

/** The content of the card. */
export interface AuthCardProps {
  readonly title: string
  readonly about?: ReactNode
  readonly children: ReactNode
}

/** The frame of the pages for people who are not signed in: a card with one form. */
export function AuthCard({ title, about, children }: AuthCardProps) {
  useDocumentTitle(`${title} · Unified Model Gateway`)
  return (
    <Box component="main" className={styles.room}>
      <Paper className={styles.card} withBorder radius="lg" p="xl">
        <img src={`${import.meta.env.BASE_URL}mark.svg`} width={40} height={40} alt="" />
        <Title order={1} size="h3" mt="md">
          {title}
        </Title>
        {about !== undefined && (
          <Text size="sm" c="dimmed" mt={4}>
            {about}
          </Text>
        )}
        <Box mt="lg">{children}</Box>
      </Paper>
      <Text size="xs" c="dimmed" mt="lg">
        Unified Model Gateway
      </Text>
    </Box>
  )
}
