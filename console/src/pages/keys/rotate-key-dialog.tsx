import { Radio, Stack, Text } from '@mantine/core'
import { useState } from 'react'
import { type ApiKey, type CreatedApiKey, useRotateKey } from '../../api/keys.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { KeyIdentity } from './key-identity.tsx'

const HOUR = 3600

/** How long the old secret stays valid, in seconds. */
const OVERLAPS = [
  { value: '0', label: 'Stops working now', description: 'Clients that still use it are refused at once.' },
  { value: String(HOUR), label: 'Works for 1 more hour' },
  { value: String(24 * HOUR), label: 'Works for 24 more hours' },
  { value: String(7 * 24 * HOUR), label: 'Works for 7 more days' },
]

/** The key to rotate, and the handlers. */
export interface RotateKeyDialogProps {
  readonly apiKey: ApiKey
  readonly onRotated: (key: CreatedApiKey) => void
  readonly onClose: () => void
}

/** Rotates a key; asks how long the old secret stays valid. */
export function RotateKeyDialog({ apiKey, onRotated, onClose }: RotateKeyDialogProps) {
  const rotate = useRotateKey()
  const [overlap, setOverlap] = useState(String(24 * HOUR))
  return (
    <FormDialog
      title={`Rotate ${apiKey.name}`}
      action="Rotate key"
      pending={rotate.isPending}
      refusal={rotate.error}
      onSubmit={() => rotate.mutate({ id: apiKey.id, overlap: Number(overlap) }, { onSuccess: onRotated })}
      onClose={onClose}
    >
      <KeyIdentity apiKey={apiKey} />
      <Text size="sm">
        This creates a new secret with the same name and limits. Switch your clients to it while the old one still works.
      </Text>
      <Radio.Group label="The old secret" value={overlap} onChange={setOverlap}>
        <Stack gap="xs" mt="xs">
          {OVERLAPS.map((choice) => (
            <Radio key={choice.value} {...choice} data-autofocus={choice.value === overlap || undefined} />
          ))}
        </Stack>
      </Radio.Group>
    </FormDialog>
  )
}
