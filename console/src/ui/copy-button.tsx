import { ActionIcon, Tooltip } from '@mantine/core'
import { IconCheck, IconCopy, IconX } from '@tabler/icons-react'
import { useCopied } from './use-copied.ts'

const ICONS = { idle: IconCopy, copied: IconCheck, failed: IconX }

/** A button that copies a text. `what` names it, as in "Copy request id". */
export function CopyButton({ text, what }: { readonly text: string; readonly what: string }) {
  const { state, copy } = useCopied()
  const Icon = ICONS[state]
  const words = { idle: `Copy ${what}`, copied: 'Copied', failed: 'The browser refused to copy' }[state]
  return (
    <Tooltip label={words}>
      <ActionIcon variant="subtle" color="gray" size="sm" aria-label={words} onClick={() => void copy(text)}>
        <Icon size={14} />
      </ActionIcon>
    </Tooltip>
  )
}
