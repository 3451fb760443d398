import { NativeSelect, TextInput } from '@mantine/core'
import { useConfigState } from '../api/operations.ts'
import type { Fields } from './use-fields.ts'

/** The props of `text('rate_class')`. `none`: the label of no rate class. */
export interface RateClassFieldProps extends ReturnType<Fields<{ readonly rate_class: string }>['text']> {
  readonly none: string
}

/** Selects one of the rate classes that routes.yaml declares. For admins. */
export function RateClassField({ none, ...field }: RateClassFieldProps) {
  const { data } = useConfigState()
  const classes = data?.rate_classes ?? []
  const texts = { label: 'Rate class', description: 'Its limits: a class of routes.yaml' }
  // If no plugin declares any, a plugin may still know some: any text is accepted.
  if (classes.length === 0) return <TextInput placeholder={none} {...texts} {...field} />
  const undeclared = [field.value].filter((value) => value !== '' && !classes.includes(value))
  const options = [
    { value: '', label: none },
    ...classes.map((name) => ({ value: name, label: name })),
    ...undeclared.map((name) => ({ value: name, label: `${name} (not in routes.yaml)` })),
  ]
  return <NativeSelect data={options} {...texts} {...field} />
}
