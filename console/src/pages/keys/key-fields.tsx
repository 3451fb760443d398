import { TextInput } from '@mantine/core'
import type { NewApiKey } from '../../api/keys.ts'
import { useSignedIn } from '../../api/session.ts'
import { BudgetsField } from '../../ui/budgets-field.tsx'
import { ModelsField } from '../../ui/models-field.tsx'
import { RateClassField } from '../../ui/rate-class-field.tsx'
import { TagsField } from '../../ui/tags-field.tsx'
import { atField, type Fields } from '../../ui/use-fields.ts'

/** The fields that creating and editing a key share, as the form keeps them. */
export interface KeyValues {
  readonly name: string
  /** Empty: every model of the account. */
  readonly models: readonly string[]
  /** Empty: that of the account. */
  readonly rate_class: string
  readonly budgets: readonly string[]
  readonly tags: Readonly<Record<string, string>>
}

/** The fields that creating and editing a key share. */
export function KeyFields({ fields, refusal }: { readonly fields: Fields<KeyValues>; readonly refusal: Error | null }) {
  const { user } = useSignedIn()
  const { values, set, text } = fields
  return (
    <>
      <TextInput
        label="Name"
        placeholder="Its purpose, such as nightly batch"
        required
        maxLength={100}
        data-autofocus
        {...text('name')}
      />
      <ModelsField
        value={values.models}
        onChange={(models) => set('models', models)}
        none="All models of the account"
        error={atField(refusal, 'models')}
      />
      {user.role === 'admin' && <RateClassField {...text('rate_class')} none="The account's" />}
      <BudgetsField
        value={values.budgets}
        onChange={(budgets) => set('budgets', budgets)}
        description="What it may spend per day, week or month, within the account's budgets"
        error={atField(refusal, 'budgets')}
      />
      <TagsField value={values.tags} onChange={(tags) => set('tags', tags)} error={atField(refusal, 'tags')} />
    </>
  )
}

/** Every model of the account. */
const ALL = ['*']

/** The fields, as the gateway takes them. Only an admin may set a rate class. */
export function keyFieldsOf({ models, rate_class, ...values }: KeyValues, admin: boolean): Pick<NewApiKey, keyof KeyValues> {
  return {
    ...values,
    models: models.length === 0 ? ALL : models,
    ...(admin && { rate_class: rate_class === '' ? null : rate_class }),
  }
}
