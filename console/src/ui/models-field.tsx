import { TagsInput } from '@mantine/core'
import { useModels } from '../api/models.ts'

/** The allowed models: globs, with the known models as suggestions. */
export interface ModelsFieldProps {
  readonly value: readonly string[]
  readonly onChange: (models: string[]) => void
  /** The placeholder of the empty field. */
  readonly none: string
  readonly error?: string | undefined
}

/** A field for model globs. */
export function ModelsField({ value, onChange, none, error }: ModelsFieldProps) {
  const { models } = useModels()
  const namespaces = [...new Set(models.map(({ namespace }) => `${namespace}/*`))]
  return (
    <TagsInput
      label="Allowed models"
      description="Model ids, or globs such as openai/*"
      placeholder={value.length === 0 ? none : undefined}
      data={[...namespaces, ...models.map(({ id }) => id)]}
      limit={50}
      maxDropdownHeight={240}
      clearable
      value={[...value]}
      onChange={onChange}
      error={error}
    />
  )
}
