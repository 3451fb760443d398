import { NumberInput, TextInput } from '@mantine/core'
import { type Account, useCreateAccount, useEditAccount } from '../../api/accounts.ts'
import { BudgetsField } from '../../ui/budgets-field.tsx'
import { FormDialog } from '../../ui/form-dialog.tsx'
import { ModelsField } from '../../ui/models-field.tsx'
import { notify } from '../../ui/notices.ts'
import { RateClassField } from '../../ui/rate-class-field.tsx'
import { atField, besidesFields, useFields } from '../../ui/use-fields.ts'

/** Any model. */
const ALL = ['*']

/** Creates an account, or edits the given one. */
export function AccountDialog({ account, onClose }: { readonly account?: Account; readonly onClose: () => void }) {
  const create = useCreateAccount()
  const edit = useEditAccount()
  const { isPending, error } = account === undefined ? create : edit
  const { values, set, text } = useFields(
    {
      name: account?.name ?? '',
      models: account?.models ?? ALL,
      rate_class: account?.rate_class ?? '',
      max_keys: account?.max_keys ?? ('' as const),
      max_key_days: account?.max_key_days ?? ('' as const),
      budgets: account?.budgets ?? [],
    },
    error,
  )

  function submit(): void {
    const { name, models, rate_class, max_keys, max_key_days, budgets } = values
    const settings = { name, models: models.length === 0 ? ALL : models, rate_class: rate_class || null, budgets }
    const fields = { ...settings, ...(max_keys !== '' && { max_keys }), max_key_days: max_key_days === '' ? null : max_key_days }
    if (account === undefined) create.mutate(fields, { onSuccess: () => done(`Created the account ${name}.`) })
    else edit.mutate({ id: account.id, ...fields }, { onSuccess: () => done(`Saved the account ${name}.`) })
  }

  function done(text: string): void {
    notify({ text })
    onClose()
  }

  return (
    <FormDialog
      title={account === undefined ? 'Create an account' : `Edit ${account.name}`}
      action={account === undefined ? 'Create account' : 'Save'}
      pending={isPending}
      refusal={besidesFields(error, Object.keys(values))}
      onSubmit={submit}
      onClose={onClose}
    >
      <TextInput label="Name" placeholder="A team, or a customer" required data-autofocus {...text('name')} />
      <ModelsField
        value={values.models}
        onChange={(models) => set('models', models)}
        none="All models"
        error={atField(error, 'models')}
      />
      <RateClassField none="Default" {...text('rate_class')} />
      <NumberInput
        label="Most keys"
        description="Revoked, expired and rotated keys do not count"
        placeholder="100"
        min={0}
        allowDecimal={false}
        value={values.max_keys}
        onChange={(most) => set('max_keys', typeof most === 'number' ? most : '')}
        error={atField(error, 'max_keys')}
      />
      <NumberInput
        label="Longest life of keys"
        description={account?.id === 'default' ? 'In days, for the keys of all accounts' : 'In days'}
        placeholder="Any"
        min={1}
        allowDecimal={false}
        value={values.max_key_days}
        onChange={(days) => set('max_key_days', typeof days === 'number' ? days : '')}
        error={atField(error, 'max_key_days')}
      />
      <BudgetsField
        value={values.budgets}
        onChange={(budgets) => set('budgets', budgets)}
        description="What all keys together may spend per day, week or month"
        error={atField(error, 'budgets')}
      />
    </FormDialog>
  )
}
