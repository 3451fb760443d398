import { TextInput, type TextInputProps } from '@mantine/core'

/** The rate class of a key or an account. `none`: what an empty field means. */
export function RateClassField({ none, ...props }: TextInputProps & { readonly none: string }) {
  return <TextInput label="Rate class" description="A class of rate-tagging in routes.yaml" placeholder={none} {...props} />
}
