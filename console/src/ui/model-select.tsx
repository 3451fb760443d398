import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { useModels } from '../api/models.ts'

/** Selects a known model, or takes any text, since a namespace may accept models that it does not list. */
export function ModelSelect(props: AutocompleteProps) {
  const { models } = useModels()
  const namespaces = [...new Set(models.map(({ namespace }) => namespace))]
  const data = namespaces.map((group) => ({
    group,
    items: models.filter(({ namespace, available }) => namespace === group && available).map(({ id }) => id),
  }))
  return (
    <Autocomplete
      aria-label="Model"
      placeholder="namespace/model"
      w="100%"
      data={data.filter(({ items }) => items.length > 0)}
      limit={100}
      maxDropdownHeight={280}
      spellCheck={false}
      rightSection={<IconSelector size={16} aria-hidden="true" />}
      rightSectionPointerEvents="none"
      {...props}
    />
  )
}
