import { Button, CloseButton, Group, Paper, Text } from '@mantine/core'
import { IconCircleCheck } from '@tabler/icons-react'
import { closeNotice, useNotice } from '../ui/notices.ts'
import styles from './notice-bar.module.css'

/** The message about the last change, with a button to undo it where that is possible. Screen readers announce it. */
export function NoticeBar() {
  const notice = useNotice()
  const { text, undo } = notice ?? {}
  return (
    <div role="status" className={styles.place}>
      {text !== undefined && (
        <Paper withBorder shadow="md" className={styles.notice}>
          <Group gap="sm" wrap="nowrap">
            <IconCircleCheck size={18} className={styles.icon} aria-hidden="true" />
            <Text size="sm" className={styles.text}>
              {text}
            </Text>
            {undo !== undefined && (
              <Button
                size="compact-sm"
                variant="default"
                flex="none"
                onClick={() => {
                  closeNotice()
                  undo()
                }}
              >
                Undo
              </Button>
            )}
            <CloseButton size="sm" aria-label="Close the message" onClick={closeNotice} />
          </Group>
        </Paper>
      )}
    </div>
  )
}
