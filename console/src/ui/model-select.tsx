import { Autocomplete, type AutocompleteProps } from '@mantine/core'
import { IconSelector } from '@tabler/icons-react'
import { useMemo } from 'react'
import { useModels } from '../api/models.ts'

/** Selects a known model, or takes any text, since a namespace may accept models that it does not list. */
export function ModelSelect(props: AutocompleteProps) {
  const { models } = useModels()
  const data = useMemo(() => {
    const available = Map.groupBy(
      models.filter(({ available }) => available),
      ({ namespace }) => namespace,
    )
    return Array.from(available, ([group, some]) => ({ group, items: some.map(({ id }) => id) }))
  }, [models])
  return (
    <Autocomplete
      aria-label="Model"
      placeholder="namespace/model"
      w="100%"
      data={data}
      limit={100}
      maxDropdownHeight={280}
      spellCheck={false}
      rightSection={<IconSelector size={16} aria-hidden="true" />}
      rightSectionPointerEvents="none"
      {...props}
    />
  )
}
