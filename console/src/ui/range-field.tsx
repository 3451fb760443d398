import { NativeSelect, TextInput } from '@mantine/core'
import { CUSTOM, type Time } from './ranges.ts'

/** A time range: one that ends now, or between two days. */
export interface RangeFieldProps {
  readonly value: Time
  readonly choices: readonly { value: string; label: string }[]
  readonly onChange: (changes: Partial<Time>) => void
}

/** Selects a time range. */
export function RangeField({ value: { range, from, to }, choices, onChange }: RangeFieldProps) {
  return (
    <>
      <NativeSelect
        aria-label="Time"
        data={[...choices]}
        value={range}
        onChange={({ currentTarget }) => onChange({ range: currentTarget.value })}
      />
      {range === CUSTOM && (
        <>
          <TextInput
            type="date"
            aria-label="From"
            value={from}
            max={to}
            onChange={({ currentTarget }) => onChange({ from: currentTarget.value })}
          />
          <TextInput
            type="date"
            aria-label="To"
            value={to}
            min={from}
            onChange={({ currentTarget }) => onChange({ to: currentTarget.value })}
          />
        </>
      )}
    </>
  )
}
