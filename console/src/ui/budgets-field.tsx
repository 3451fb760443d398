import { TagsInput } from '@mantine/core'

/** The budgets of an account or a key. */
export interface BudgetsFieldProps {
  readonly value: readonly string[]
  readonly onChange: (budgets: string[]) => void
  readonly description: string
  readonly error?: string | undefined
}

/** A field for budgets, each written as an amount per day, week or month. */
export function BudgetsField({ value, onChange, description, error }: BudgetsFieldProps) {
  return (
    <TagsInput
      label="Budgets"
      description={description}
      placeholder={value.length === 0 ? '500 USD/month' : undefined}
      value={[...value]}
      onChange={onChange}
      error={error}
    />
  )
}
