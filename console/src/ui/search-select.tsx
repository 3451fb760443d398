import { Loader, Select } from '@mantine/core'
import { useState } from 'react'
import { useDebouncedText } from './use-debounced-text.ts'

/** What can be chosen. */
export interface Choice {
  readonly value: string
  readonly label: string
}

/** A field that chooses one of many by searching at the gateway. */
export interface SearchSelectProps {
  /** The accessible name. */
  readonly label: string
  /** The choice of the empty value; absent: a value is required, and the label is visible. */
  readonly any?: string
  readonly value: string
  /** Reads the choices that match a text, and the label of the value. */
  readonly useChoices: (search: string, value: string) => { readonly choices: readonly Choice[]; readonly loading: boolean }
  readonly onChange: (value: string) => void
}

/** Chooses one of any number: the first ones are listed, the others found by typing. */
export function SearchSelect({ label, any, value, useChoices, onChange }: SearchSelectProps) {
  const [search, setSearch] = useState('')
  const [, ask] = useDebouncedText(search, setSearch)
  const { choices, loading } = useChoices(search, value)
  const none = any === undefined ? [] : [{ value: '', label: any }]
  return (
    <Select
      {...(any === undefined ? { label, required: true } : { 'aria-label': label, w: { base: '100%', xs: 160 } })}
      data={[...(search === '' ? none : []), ...choices]}
      value={value}
      onChange={(next) => onChange(next ?? '')}
      onSearchChange={(text) => ask(choices.some((choice) => choice.label === text) || text === any ? '' : text)}
      // The gateway has searched.
      filter={({ options }) => options}
      searchable
      allowDeselect={false}
      maxDropdownHeight={280}
      nothingFoundMessage={loading ? 'Searching…' : 'No matches'}
      rightSection={loading ? <Loader size={14} /> : undefined}
    />
  )
}
