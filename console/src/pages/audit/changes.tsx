import { Text } from '@mantine/core'
import type { AuditRow } from '../../api/operations.ts'
import styles from './changes.module.css'

/** What was changed: each field with its value before and after. */
export function Changes({ changes }: Pick<AuditRow, 'changes'>) {
  const fields = Object.entries(changes)
  if (fields.length === 0) return null
  return (
    <dl className={styles.changes}>
      {fields.map(([field, [before, after]]) => (
        <div key={field} className={styles.change}>
          <dt>{field}</dt>
          <dd>
            {before !== null && before !== undefined && (
              <>
                <Text span size="xs" c="dimmed" td="line-through">
                  {inWords(before)}
                </Text>{' '}
                →{' '}
              </>
            )}
            {inWords(after)}
          </dd>
        </div>
      ))}
    </dl>
  )
}

function inWords(value: unknown): string {
  if (value === null || value === undefined) return 'none'
  if (Array.isArray(value)) return value.map(inWords).join(', ')
  return typeof value === 'object' ? JSON.stringify(value) : String(value)
}
