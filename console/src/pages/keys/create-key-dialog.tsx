import { Alert, Input, SegmentedControl, Select } from '@mantine/core'
import { useId, useState } from 'react'
import { useAccount } from '../../api/accounts.ts'
import { type CreatedApiKey, type KeyKind, useCreateKey, useKeys } from '../../api/keys.ts'
import { useSignedIn } from '../../api/session.ts'
import { AccountField } from '../../ui/account-field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { exactly } from '../../ui/numbers.ts'
import { besidesFields, useFields } from '../../ui/use-fields.ts'
import { choicesOfNew, defaultOf, expiryOf } from './expiry.ts'
import { KeyFields, type KeyValues, keyFieldsOf } from './key-fields.tsx'
import { KINDS } from './kinds.ts'

const INITIAL: KeyValues = { name: '', models: [], rate_class: '', budgets: [], tags: {} }

/** The handlers of the dialog. */
export interface CreateKeyDialogProps {
  readonly onCreated: (key: CreatedApiKey) => void
  readonly onClose: () => void
}

/** Creates a key. */
export function CreateKeyDialog({ onCreated, onClose }: CreateKeyDialogProps) {
  const { user, account } = useSignedIn()
  const create = useCreateKey()
  const fields = useFields(INITIAL, create.error)
  const [kind, setKind] = useState<KeyKind>('live')
  const [chosen, setChosen] = useState<string | null>(null)
  const [accountId, setAccountId] = useState(account.id)
  const kindLabel = useId()
  const admin = user.role === 'admin'
  const { data: owner } = useAccount(accountId)
  const { total } = useKeys({ account_id: accountId, status: 'active', limit: 1 })
  const choices = choicesOfNew(owner?.key_days ?? null)
  // Another account may not allow what was chosen.
  const expiry = choices.some(({ value }) => value === chosen) ? chosen! : defaultOf(choices)
  const isFull = owner !== undefined && total !== undefined && total >= owner.max_keys

  function submit(): void {
    const fieldsOfKey = keyFieldsOf(fields.values, admin)
    const order = { ...fieldsOfKey, kind, expires_at: expiryOf(expiry), ...(admin && { account_id: accountId }) }
    create.mutate(order, { onSuccess: onCreated })
  }

  return (
    <FormDialog
      title="Create an API key"
      action="Create key"
      pending={create.isPending}
      refusal={besidesFields(create.error, Object.keys(INITIAL))}
      onSubmit={submit}
      onClose={onClose}
    >
      {isFull && (
        <Alert color="orange">
          This account has {exactly(total)} of its {exactly(owner.max_keys)} keys. Revoke keys that are not used, or{' '}
          {admin ? 'raise "Most keys" of the account.' : 'ask an admin to raise "Most keys" of the account.'}
        </Alert>
      )}
      <Input.Wrapper label="Kind" labelElement="div" labelProps={{ id: kindLabel }} description={KINDS[kind].about}>
        <SegmentedControl
          fullWidth
          mt={6}
          aria-labelledby={kindLabel}
          data={Object.entries(KINDS)
            .filter(([name]) => admin || name !== 'admin')
            .map(([value, { label }]) => ({ value, label }))}
          value={kind}
          onChange={(value) => setKind(value as KeyKind)}
        />
      </Input.Wrapper>
      <KeyFields fields={fields} refusal={create.error} />
      <Select label="Expires" data={choices} value={expiry} onChange={setChosen} allowDeselect={false} />
      {admin && <AccountField value={accountId} onChange={setAccountId} />}
    </FormDialog>
  )
}
