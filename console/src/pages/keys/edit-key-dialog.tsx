import { Select } from '@mantine/core'
import { useState } from 'react'
import { useAccount } from '../../api/accounts.ts'
import { type ApiKey, useEditKey } from '../../api/keys.ts'
import { useSignedIn } from '../../api/session.ts'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { notify } from '../../ui/notices.ts'
import { absoluteTime } from '../../ui/time-words.ts'
import { besidesFields, useFields } from '../../ui/use-fields.ts'
import { choicesOf, expiryOf } from './expiry.ts'
import { KeyFields, type KeyValues, keyFieldsOf } from './key-fields.tsx'
import { KeyIdentity } from './key-identity.tsx'

const KEEP = 'keep'

/** The field is empty for all models. */
const withoutAll = (models: readonly string[]): readonly string[] => models.filter((glob) => glob !== '*')

/** Changes the settings of a key; its secret stays the same. */
export function EditKeyDialog({ apiKey, onClose }: { readonly apiKey: ApiKey; readonly onClose: () => void }) {
  const { user } = useSignedIn()
  const edit = useEditKey()
  const { data: owner } = useAccount(apiKey.account.id)
  const { id, name, models, rate_class, budgets, tags, expires_at } = apiKey
  const initial: KeyValues = { name, models: withoutAll(models), rate_class: rate_class ?? '', budgets, tags }
  const fields = useFields(initial, edit.error)
  const [expiry, setExpiry] = useState(KEEP)
  const kept = expires_at === null ? 'Never (unchanged)' : `${absoluteTime(expires_at)} (unchanged)`

  function submit(): void {
    const expires = expiry === KEEP ? expires_at : expiryOf(expiry)
    const changed = { id, ...keyFieldsOf(fields.values, user.role === 'admin'), expires_at: expires }
    edit.mutate(changed, { onSuccess: done })
  }

  function done(key: ApiKey): void {
    notify({ text: `Saved ${key.name} (${key.masked}).` })
    onClose()
  }

  return (
    <FormDialog
      title={`Edit ${name}`}
      action="Save"
      pending={edit.isPending}
      refusal={besidesFields(edit.error, Object.keys(fields.values))}
      onSubmit={submit}
      onClose={onClose}
    >
      <KeyIdentity apiKey={apiKey} />
      <KeyFields fields={fields} refusal={edit.error} />
      <Select
        label="Expires"
        data={[{ value: KEEP, label: kept }, ...choicesOf(apiKey, owner?.key_days ?? null)]}
        value={expiry}
        onChange={(value) => setExpiry(value ?? KEEP)}
        allowDeselect={false}
      />
    </FormDialog>
  )
}
