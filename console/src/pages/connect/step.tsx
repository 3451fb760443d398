import { Box, Group, Paper, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import styles from './step.module.css'

/** A numbered step. */
export interface StepProps {
  readonly number: number
  readonly title: string
  readonly children: ReactNode
}

/** A step of configuring a client. */
export function Step({ number, title, children }: StepProps) {
  return (
    <Paper withBorder p="md">
      <Group gap={8} mb={8}>
        <span className={styles.number} aria-hidden="true">
          {number}
        </span>
        <Text size="sm" fw={500} component="h2">
          {title}
        </Text>
      </Group>
      <Box className={styles.content}>{children}</Box>
    </Paper>
  )
}
