import { NativeSelect, TextInput } from '@mantine/core'
import { useConfig } from '../api/operations.ts'
import type { Fields } from './use-fields.ts'

/** What `text('rate_class')` gives. `none`: what it means that none is chosen. */
export interface RateClassFieldProps extends ReturnType<Fields<{ readonly rate_class: string }>['text']> {
  readonly none: string
}

/** The rate class of a key or an account: one of those that the routing table declares. An admin's to give. */
export function RateClassField({ none, ...field }: RateClassFieldProps) {
  const { data } = useConfig()
  const classes = data?.rate_classes ?? []
  const said = { label: 'Rate class', description: 'Its limits: a class of routes.yaml' }
  // Where no plugin declares any, one may know them all the same.
  if (classes.length === 0) return <TextInput placeholder={none} {...said} {...field} />
  const lost = [field.value].filter((value) => value !== '' && !classes.includes(value))
  const options = [
    { value: '', label: none },
    ...classes.map((name) => ({ value: name, label: name })),
    ...lost.map((name) => ({ value: name, label: `${name} (not in routes.yaml)` })),
  ]
  return <NativeSelect data={options} {...said} {...field} />
}
