import { ActionIcon, Tooltip } from '@mantine/core'
import type { Icon } from '@tabler/icons-react'

/** A button at the end of a row; `label` is its accessible name. */
export interface RowActionProps {
  readonly icon: Icon
  readonly label: string
  readonly onClick: () => void
}

/** A button at the end of a row. */
export function RowAction({ icon: Icon, label, onClick }: RowActionProps) {
  return (
    <Tooltip label={label}>
      <ActionIcon variant="subtle" color="gray" aria-label={label} onClick={onClick}>
        <Icon size={17} />
      </ActionIcon>
    </Tooltip>
  )
}
