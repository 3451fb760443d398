import { TextInput } from '@mantine/core'
import type { KeyFields as Values } from '../../api/keys.ts'
import { useSignedIn } from '../../api/session.ts'
import { ModelsField } from '../../ui/models-field.tsx'
import { RateClassField } from '../../ui/rate-class-field.tsx'
import { TagsField } from '../../ui/tags-field.tsx'
import { atField, type Fields } from '../../ui/use-fields.ts'

/** What a person says of a key; how long it lives is asked for elsewhere. */
export type KeyValues = Omit<Values, 'expires_at' | 'rate_class'> & { readonly rate_class: string }

/** What creating and editing a key have in common. */
export function KeyFields({ fields, refusal }: { readonly fields: Fields<KeyValues>; readonly refusal: Error | null }) {
  const { user } = useSignedIn()
  const { values, set, text } = fields
  return (
    <>
      <TextInput
        label="Name"
        placeholder="What it is for: nightly batch"
        required
        maxLength={100}
        data-autofocus
        {...text('name')}
      />
      <ModelsField
        value={values.models}
        onChange={(models) => set('models', models)}
        none="Every model of the account"
        error={atField(refusal, 'models')}
      />
      {user.role === 'admin' && <RateClassField {...text('rate_class')} none="The account's" />}
      <TagsField value={values.tags} onChange={(tags) => set('tags', tags)} error={atField(refusal, 'tags')} />
    </>
  )
}

/** Every model of the account. */
const ALL = ['*']

/** What the gateway is sent. Rate classes are an admin's to give. */
export function keyFieldsOf({ models, rate_class, ...values }: KeyValues, admin: boolean): Omit<Values, 'expires_at'> {
  return {
    ...values,
    models: models.length === 0 ? ALL : models,
    ...(admin && { rate_class: rate_class === '' ? null : rate_class }),
  }
}
