import { Stack, TagsInput, Text } from '@mantine/core'
import { useModels } from '../api/models.ts'
import { exactly } from './numbers.ts'

/** The budgets of an account or a key. */
export interface BudgetsFieldProps {
  readonly value: readonly string[]
  readonly onChange: (budgets: string[]) => void
  readonly description: string
  readonly error?: string | undefined
}

/** Models that the note names. */
const NAMED = 3

/** A field for budgets, each written as an amount per day, week or month. It says which models a budget makes impossible to call. */
export function BudgetsField({ value, onChange, description, error }: BudgetsFieldProps) {
  const { models } = useModels()
  const refused = models.filter(({ available, priced }) => available && !priced)
  return (
    <Stack gap={4}>
      <TagsInput
        label="Budgets"
        description={description}
        placeholder={value.length === 0 ? '500 USD/month' : undefined}
        value={[...value]}
        onChange={onChange}
        error={error}
      />
      {value.length > 0 && refused.length > 0 && (
        <Text size="xs" c="dimmed">
          A budget refuses {refused.length === 1 ? 'a model' : `${exactly(refused.length)} models`} whose price is not known:{' '}
          {refused
            .slice(0, NAMED)
            .map(({ id }) => id)
            .join(', ')}
          {refused.length > NAMED && ` and ${exactly(refused.length - NAMED)} more`}. Add prices to routes.yaml.
        </Text>
      )}
    </Stack>
  )
}
