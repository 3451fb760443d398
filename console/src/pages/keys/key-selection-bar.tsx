import { Button, Group, Text } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import type { ApiKey } from '../../api/keys.ts'
import { exactly } from '../../ui/numbers.ts'
import type { Selection } from '../../ui/selection.tsx'
import { keysInWords } from './key-words.ts'

/** How many keys there are, and the actions on the chosen ones. */
export interface KeySelectionBarProps {
  readonly total: number | undefined
  readonly selection: Selection<ApiKey>
  readonly onRevoke: () => void
}

/** The line above the table. It is there before a key is chosen, so that the table does not jump when a key is chosen. */
export function KeySelectionBar({ total, selection: { chosen, toggle }, onRevoke }: KeySelectionBarProps) {
  if (total === 0) return null
  const all = total === undefined ? '' : keysInWords(total)
  return (
    <Group gap="xs" mih={30} mb="xs">
      <Text size="sm" c="dimmed" aria-live="polite">
        {chosen.length > 0 ? `${exactly(chosen.length)} of ${all} chosen` : all}
      </Text>
      {chosen.length > 0 && (
        <>
          <Button size="compact-sm" variant="light" color="red" leftSection={<IconTrash size={14} />} onClick={onRevoke}>
            Revoke…
          </Button>
          <Button size="compact-sm" variant="subtle" color="gray" onClick={() => toggle(chosen, false)}>
            Choose none
          </Button>
        </>
      )}
    </Group>
  )
}
