import { Button, Group, Text } from '@mantine/core'
import { IconCheck, IconCopy } from '@tabler/icons-react'
import styles from './secret-field.module.css'
import { useCopied } from './use-copied.ts'

const WORDS = { idle: 'Copy', copied: 'Copied', failed: 'Select and copy it by hand' }

/** A secret that is shown once, with a button to copy it. Not an input, whose value browsers may store. */
export function SecretField({ label, secret }: { readonly label: string; readonly secret: string }) {
  const { state, copy } = useCopied()
  return (
    <div>
      <Text size="sm" fw={500} mb={4}>
        {label}
      </Text>
      <Group gap="xs" align="stretch">
        <code className={styles.secret}>{secret}</code>
        <Button
          data-autofocus
          variant={state === 'copied' ? 'light' : 'filled'}
          leftSection={state === 'copied' ? <IconCheck size={16} /> : <IconCopy size={16} />}
          onClick={() => void copy(secret)}
        >
          {WORDS[state]}
        </Button>
      </Group>
      <Text size="xs" c="dimmed" role="status" className={styles.status}>
        {state === 'copied' ? 'Copied to the clipboard' : ''}
      </Text>
    </div>
  )
}
