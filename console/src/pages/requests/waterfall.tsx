import { Text } from '@mantine/core'
import { duration } from '../../ui/time-words.ts'
import { spansOf, type TimedCall } from './spans.ts'
import styles from './waterfall.module.css'

/** The timeline of a call: each link, the gateway, each attempt, and the first byte. */
export function Waterfall({ row }: { readonly row: TimedCall }) {
  const { total, first_byte } = row.ms
  const share = (ms: number): string => `${total === 0 ? 0 : (100 * ms) / total}%`
  return (
    <div className={styles.waterfall}>
      <ol className={styles.spans} aria-label="Timeline">
        {spansOf(row).map(({ name, detail, from, to, kind }, index) => (
          <li key={`${index} ${name}`} className={styles.span}>
            <div className={styles.words}>
              <Text size="sm" span truncate>
                {name}{' '}
                <Text size="xs" c="dimmed" span>
                  {detail}
                </Text>
              </Text>
              <Text size="xs" span className={styles.time}>
                {duration(to - from)}
              </Text>
            </div>
            <div className={styles.track}>
              <div className={`${styles.bar} ${styles[kind]}`} style={{ left: share(from), width: share(to - from) }} />
              {first_byte !== null && <div className={styles.mark} style={{ left: share(first_byte) }} />}
            </div>
          </li>
        ))}
      </ol>
      <div className={styles.axis} aria-hidden="true">
        <span>0</span>
        {first_byte !== null && <span>first byte {duration(first_byte)}</span>}
        <span>{duration(total)}</span>
      </div>
    </div>
  )
}
