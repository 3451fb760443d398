import { CloseButton, TextInput } from '@mantine/core'
import { IconSearch } from '@tabler/icons-react'
import { useDebouncedText } from './use-debounced-text.ts'

/** The search; `onSearch` is called after a pause in typing. */
export interface SearchFieldProps {
  readonly label: string
  readonly value: string
  readonly onSearch: (text: string) => void
  readonly width?: number
}

/** A search field. */
export function SearchField({ label, value, onSearch, width = 280 }: SearchFieldProps) {
  const [text, change] = useDebouncedText(value, onSearch)
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      type="search"
      size="sm"
      w={{ base: '100%', xs: width }}
      leftSection={<IconSearch size={16} />}
      rightSection={text !== '' && <CloseButton size="sm" aria-label="Clear search" onClick={() => change('')} />}
      value={text}
      onChange={({ currentTarget }) => change(currentTarget.value)}
    />
  )
}
