import { Text } from '@mantine/core'
import type { AuditEntry } from '../../api/operations.ts'
import { absoluteTime } from '../../ui/time-words.ts'
import styles from './changes.module.css'

/** The changed fields, each with its value before and after; a field that is empty in both is left out. */
export function Changes({ changes, accounts }: Pick<AuditEntry, 'changes' | 'accounts'>) {
  const fields = Object.entries(changes)
    .map(([field, values]) => [field, field === 'account' ? values.map((id) => accounts[String(id)] ?? id) : values] as const)
    .map(([field, [before, after]]) => ({ field, before: inWords(before), after: inWords(after) }))
    .filter(({ before, after }) => before !== NOTHING || after !== NOTHING)
  if (fields.length === 0) return null
  return (
    <dl className={styles.changes}>
      {fields.map(({ field, before, after }) => (
        <div key={field} className={styles.change}>
          <dt>{field.replaceAll('_', ' ')}</dt>
          <dd>
            {before !== NOTHING && (
              <>
                <Text span size="xs" c="dimmed" td="line-through">
                  {before}
                </Text>{' '}
                →{' '}
              </>
            )}
            {after}
          </dd>
        </div>
      ))}
    </dl>
  )
}

const NOTHING = 'none'
const TIME = /^\d{4}-\d\d-\d\dT[\d:.]+Z$/

function inWords(value: unknown): string {
  if (value === null || value === undefined) return NOTHING
  if (Array.isArray(value)) return value.map(inWords).join(', ') || NOTHING
  if (typeof value === 'object')
    return (
      Object.entries(value)
        .map(([name, inner]) => `${name}=${inWords(inner)}`)
        .join(', ') || NOTHING
    )
  return typeof value === 'string' && TIME.test(value) ? absoluteTime(value) : String(value)
}
